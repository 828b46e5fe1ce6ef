/**
 * T67 deploy.rolling: a second process starts beside the first, and the first one is stopped under load. Clients go through what a load
 * balancer does: ask every tenth of a second who is ready, and send to those only. No request fails.
 */
import { afterEach, describe, expect, test } from "bun:test"
import { type Service, until } from "./processes.ts"
import { backends, percentile, report, World } from "./world.ts"

const pollMillis = 100
const stopDelaySeconds = 2
const clientsCount = 6

let world: World | undefined
afterEach(async () => {
  await world?.close()
  world = undefined
}, 30_000)

interface Look {
  readonly service: Service
  readonly status: number | "refused"
  readonly at: number
}

/** Knows who is ready, as far as its last look goes. */
const balancer = (members: () => ReadonlyArray<Service>) => {
  const ready = new Set<Service>()
  const looks: Array<Look> = []
  let over = false
  const look = async (service: Service) => {
    const answer = await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
    if (answer?.status === 200) ready.add(service)
    else ready.delete(service)
    looks.push({ service, status: answer?.status ?? "refused", at: performance.now() })
  }
  const watching = (async () => {
    while (!over) {
      await Promise.all(members().map(look))
      await Bun.sleep(pollMillis)
    }
  })()
  let turn = 0
  return {
    looks,
    choose: () => [...ready][turn++ % ready.size],
    stop: async () => {
      over = true
      await watching
    }
  }
}

describe.each(backends)("T67 deploy.rolling on %s", (backend) => {
  test("the first process is replaced under load, and nobody notices", async () => {
    const settings = { RUNGATE_STOP_DELAY_SECONDS: `${stopDelaySeconds}`, RUNGATE_DRAIN_SECONDS: "5" }
    world = await World.open({ backend, settings })
    const here = world
    const members = [await here.start("all")]
    await here.openAccounts()
    const front = balancer(() => members)
    let over = false
    const sent = { total: 0, old: 0 }
    const millis: Array<number> = []
    const failures: Array<string> = []
    const client = async (number: number) => {
      for (let turn = number; !over; turn++) {
        const service = front.choose()
        if (service === undefined) {
          await Bun.sleep(20)
          continue
        }
        sent.total += 1
        if (service === members[0]) sent.old += 1
        const asked = turn % 4 === 0 ? here.send("Hit") : here.find(turn % 3 === 0 ? "Wait400" : "Hit")
        const began = performance.now()
        const told = await here.submit(service, asked, 10)
        millis.push(performance.now() - began)
        if (told === null) failures.push(here.refusals.at(-1) ?? "?")
      }
    }
    await until("the first is ready", 5_000, () => front.choose())
    const clients = Promise.all(Array.from({ length: clientsCount }, (_, number) => client(number)))
    const first = members[0] ?? expect.unreachable()
    await until("load on the first", 20_000, () => sent.old > 20)
    const second = await here.start("all")
    members.push(second)
    await until("load on the second", 20_000, () => sent.total - sent.old > 10)
    const began = performance.now()
    first.signal("SIGTERM")
    const { code, signal } = await first.ended
    const drain_s = Number(((performance.now() - began) / 1000).toFixed(2))
    const after = sent.total
    await until("load on the second alone", 20_000, () => sent.total > after + 20)
    over = true
    await clients
    await front.stop()
    await here.settled(30)
    const violations = [...(await here.violations())]
    const ofFirst = front.looks.filter(({ service, at }) => service === first && at > began)
    const unready = ofFirst.find(({ status }) => status === 503)
    const refused = ofFirst.find(({ status }) => status === "refused")
    if (unready === undefined) violations.push("/readyz never said that the process is stopping")
    if (unready !== undefined && refused !== undefined && refused.at < unready.at)
      violations.push("connections were refused before /readyz said so")
    report({
      test: "T67",
      backend,
      requests: sent.total,
      to_the_first: sent.old,
      failed: failures.length,
      ready_flips_after_ms: Math.round((unready?.at ?? 0) - began),
      refuses_after_ms: Math.round((refused?.at ?? 0) - began),
      drain_s,
      p99: percentile(millis, 0.99),
      violations
    })
    expect(failures).toEqual([])
    expect(violations).toEqual([])
    expect({ code, signal }).toEqual({ code: 0, signal: null })
  }, 100_000)
})
