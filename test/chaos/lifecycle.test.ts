/**
 * Beginnings and ends: two processes that start at once on nothing, a stop that keeps its promises, all workers dead (T09
 * hold.lockout), and cancels that race the start (E13).
 */
import { afterEach, describe, expect, test } from "bun:test"
import { until } from "./processes.ts"
import { backends, leaseSeconds, percentile, report, World } from "./world.ts"

let world: World | undefined
afterEach(async () => {
  await world?.close()
  world = undefined
})

/** RUNGATE_DRAIN_SECONDS of these tests, and what closing the rest may take on a busy machine. */
const drainSeconds = 3
const stopSecondsMax = drainSeconds + 12
/** A lease, and on a slow machine the time of a hundred runs. A hold that nobody comes for stays for good. */
const recoverySecondsMax = leaseSeconds + 25

describe.each(backends)("on %s", (backend) => {
  test("two processes start at once on an empty database", async () => {
    world = await World.open({ backend })
    const here = world
    const services = await Promise.all([here.start("all"), here.start("all")])
    await here.openAccounts()
    for (const service of services)
      expect((await here.submit(service, here.find("Hit"), 20))?.run_status).toBe("succeeded")
    const violations = await here.violations()
    report({ test: "start_together", backend, runs: 2, violations })
    expect(violations).toEqual([])
  })

  test("SIGTERM: waiting clients get 202, the process ends with 0 in time, and the runs end elsewhere", async () => {
    world = await World.open({ backend, settings: { RUNGATE_DRAIN_SECONDS: `${drainSeconds}` } })
    const here = world
    const leaving = await here.start("all")
    await here.openAccounts()
    // One wait that ends within the drain, and calls that outlast it.
    const short = Array.from({ length: 4 }, () => here.find("Wait1500"))
    const long = Array.from({ length: 4 }, () => here.find("Wait9000"))
    const waits = [...short, ...long].map((asked) => here.submit(leaving, asked, 60))
    // On a slow machine a short one may be over before the last one is called.
    await until("every run at its provider", 10_000, () => here.meter.calls.length >= 8)
    const staying = await here.start("all")
    const began = performance.now()
    leaving.signal("SIGTERM")
    const told = await Promise.all(waits)
    const answered_s = Number(((performance.now() - began) / 1000).toFixed(2))
    const { code, signal } = await leaving.ended
    const stopped_s = Number(((performance.now() - began) / 1000).toFixed(2))
    // On a slow machine the short ones may be over before the signal comes; whoever still waits is told so.
    for (const one of told.slice(0, short.length)) expect([200, 202]).toContain(one?.status ?? 0)
    expect(told.slice(short.length).map((one) => one?.status)).toEqual(long.map(() => 202))
    expect({ code, signal }).toEqual({ code: 0, signal: null })
    expect(stopped_s).toBeLessThan(stopSecondsMax)
    const recovery_s = Number((await here.settled(40)).toFixed(2))
    for (const asked of [...short, ...long])
      expect((await here.submit(staying, asked, 20))?.run_status).toBe("succeeded")
    const violations = [...(await here.violations())]
    for (const { key } of short) {
      if (here.meter.of(key).length !== 1)
        violations.push(`${key} had time to end and was called ${here.meter.of(key).length} times`)
    }
    report({ test: "sigterm", backend, runs: 8, faults: 1, violations, answered_s, stopped_s, recovery_s })
    expect(violations).toEqual([])
  })

  test("T09 hold.lockout: every worker is killed, and holds end soon after one is back", async () => {
    world = await World.open({ backend })
    const here = world
    const front = await here.start("http")
    const workers = [await here.start("worker"), await here.start("worker")]
    await here.openAccounts()
    const runs = Array.from({ length: 100 }, (_, n) => (n % 5 === 0 ? here.send("Wait1500") : here.find("Wait1500")))
    for (let start = 0; start < runs.length; start += 20) {
      await Promise.all(runs.slice(start, start + 20).map((asked) => here.submit(front, asked)))
    }
    await until("runs at their providers", 10_000, () => here.meter.open() >= 10)
    await Promise.all(workers.map((worker) => worker.kill()))
    const [held] = await here.query<{ reserved: number }>("SELECT sum(reserved)::bigint AS reserved FROM wallets")
    expect(held?.reserved).toBeGreaterThan(0)
    // The new worker finds providers that answer at once: what is measured is how long nobody came for the runs.
    here.meter.hurry()
    await here.start("worker")
    const recovery_s = Number((await here.settled(60)).toFixed(2))
    const violations = [...(await here.violations())]
    if (recovery_s > recoverySecondsMax) violations.push(`reserved came back to 0 after ${recovery_s} s`)
    report({ test: "T09", backend, runs: runs.length, faults: 2, violations, recovery_s })
    expect(violations).toEqual([])
  })

  test("E13 cancel.races.start: a run that was cancelled is never called, and one that was called is never cancelled", async () => {
    world = await World.open({ backend, settings: { RUNGATE_CONCURRENCY: "3", RUNGATE_ORG_CONCURRENCY: "3" } })
    const here = world
    const services = [await here.start("all"), await here.start("all")]
    await here.openAccounts()
    const [first, second] = services
    if (first === undefined || second === undefined) throw new Error("no services")
    const outcomes: Array<{ key: string; cancelled: boolean }> = []
    const millis: Array<number> = []
    const client = async (number: number) => {
      for (let turn = 0; turn < 25; turn++) {
        const asked = (turn + number) % 3 === 0 ? here.send("Hit") : here.find("Wait60")
        const told = await here.submit(first, asked)
        if (told === null) throw new Error(here.refusals.at(-1))
        // Nothing, or a few milliseconds: the cancel meets the run before, while and after it starts.
        if (turn % 2 === 1) await Bun.sleep((turn * 7) % 40)
        const began = performance.now()
        outcomes.push({ key: asked.key, cancelled: await here.cancel(second, asked, told.run_id) })
        millis.push(performance.now() - began)
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, number) => client(number)))
    await here.settled(30)
    const violations = [...(await here.violations())]
    const byKey = new Map((await here.runs()).map((run) => [run.key, run]))
    for (const { key, cancelled } of outcomes) {
      const status = byKey.get(key)?.status
      if (cancelled !== (status === "cancelled"))
        violations.push(`${key}: the client was told ${cancelled}, the run is ${status}`)
    }
    const cancelled = outcomes.filter((one) => one.cancelled).length
    const executed = outcomes.filter((one) => here.meter.of(one.key).length > 0).length
    const p = { p50: percentile(millis, 0.5), p99: percentile(millis, 0.99) }
    report({
      test: "E13",
      backend,
      runs: outcomes.length,
      cancelled,
      executed,
      both: cancelled + executed - outcomes.length,
      violations,
      ...p
    })
    expect(violations).toEqual([])
    expect(cancelled).toBeGreaterThan(0)
    expect(executed).toBeGreaterThan(0)
  })
})
