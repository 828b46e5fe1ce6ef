/**
 * T67 deploy.rolling: a second process starts beside the first, and the first one is stopped under load. Clients go through what a load
 * balancer does: ask every tenth of a second who is ready, and send to those only. No request fails.
 */
import { afterEach, describe, expect, test } from "bun:test"
import { loadOf } from "./balancer.ts"
import { backends, percentile, report, World } from "./world.ts"

const stopDelaySeconds = 2

let world: World | undefined
afterEach(async () => {
  await world?.close()
  world = undefined
})

describe.each(backends)("T67 deploy.rolling on %s", (backend) => {
  test("the first process is replaced under load, and nobody notices", async () => {
    const settings = { RUNGATE_STOP_DELAY_SECONDS: `${stopDelaySeconds}`, RUNGATE_DRAIN_SECONDS: "5" }
    world = await World.open({ backend, settings })
    const here = world
    const members = [await here.start("all")]
    await here.openAccounts()
    const first = members[0] ?? expect.unreachable()
    const load = loadOf(here, () => members)
    await load.more(first, 20)
    const second = await here.start("all")
    members.push(second)
    await load.more(second, 10)
    const began = performance.now()
    first.signal("SIGTERM")
    const { code, signal } = await first.ended
    const drain_s = Number(((performance.now() - began) / 1000).toFixed(2))
    await load.more(second, 20)
    await load.stop()
    await here.settled(30)
    const violations = [...(await here.violations())]
    const ofFirst = load.looks.filter(({ service, at }) => service === first && at > began)
    const unready = ofFirst.find(({ status }) => status === 503)
    const refused = ofFirst.find(({ status }) => status === "refused")
    if (unready === undefined) violations.push("/readyz never said that the process is stopping")
    if (unready !== undefined && refused !== undefined && refused.at < unready.at)
      violations.push("connections were refused before /readyz said so")
    report({
      test: "T67",
      backend,
      requests: load.total(),
      to_the_first: load.answered(first),
      failed: load.failures.length,
      ready_flips_after_ms: Math.round((unready?.at ?? 0) - began),
      refuses_after_ms: Math.round((refused?.at ?? 0) - began),
      drain_s,
      p99: percentile(load.millis, 0.99),
      violations
    })
    expect(load.failures).toEqual([])
    expect(violations).toEqual([])
    expect({ code, signal }).toEqual({ code: 0, signal: null })
  })
})
