/**
 * T21 worker.kill9.everywhere: a process dies by SIGKILL at each point between two steps, with a second one beside it.
 *
 * Clients retry by their keys, some cancel. Whatever was acknowledged ends within the lease and five seconds, the books
 * hold, and no provider hears more than the attempts say; a message is never sent twice.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { sampled } from "../kit/input-samples.ts"
import { askUntilDeath } from "./dying.ts"
import { type Service, until } from "./processes.ts"
import { type Asked, backends, leaseSeconds, report, World } from "./world.ts"

/** Each with the pass at which the process dies, late enough that other runs are under way. */
const points = [
  ["admit.before", 4],
  ["admit.after", 4],
  ["wake.after", 4],
  ["turn.before_commit", 2],
  ["turn.after_commit", 2],
  ["provider.before", 4],
  ["provider.after", 4],
  ["attempt.before", 2],
  ["attempt.after", 2],
  ["mail.before", 3],
  ["mail.after", 3],
  ["settle.after", 2]
] as const

/** Few, and each waits for its run: lanes are idle now and then, so both processes get turns. */
const clients = 3

describe.each(backends)("T21 worker.kill9.everywhere on %s", (backend) => {
  let world: World
  let survivor: Service
  beforeAll(async () => {
    world = await World.open({ backend })
    // With little room of its own, so that the other process executes most runs.
    survivor = await world.start("all", { RUNGATE_CONCURRENCY: "2", RUNGATE_ORG_CONCURRENCY: "2" })
    await world.openAccounts()
  })
  afterAll(() => world?.close())

  // A part of the steps each day.
  test.each(sampled(points, Math.ceil(points.length / 2) + 1, backends.indexOf(backend)))(
    "%s",
    async (point, hit) => {
      const doomed = await world.start("all", { RUNGATE_CRASH_AT: `${point}:${hit}` })
      const runs: Array<Asked> = []
      const cancels: Array<Promise<boolean>> = []
      let diedAt = 0
      void doomed.ended.then(() => {
        diedAt = performance.now()
      })
      const next = () =>
        runs.length % 3 === 0 ? world.find("Hit") : runs.length % 3 === 1 ? world.find("Miss") : world.send("Hit")
      await askUntilDeath(doomed, point, clients, async () => {
        const asked = next()
        runs.push(asked)
        const cancelled = runs.length % 7 === 0
        const told = await world.submit(doomed, asked, 2)
        if (told !== null && cancelled) cancels.push(world.cancel(survivor, asked, told.run_id))
      })

      const acknowledged = runs.filter((one) => world.acknowledged.has(one.key)).length
      let replays = 0
      for (const asked of runs) {
        const known = world.acknowledged.has(asked.key)
        const told = await world.submit(survivor, asked)
        world.expectAlive([survivor])
        if (told === null)
          throw new Error(`refused: ${world.refusals.at(-1)}; ${survivor.how()} ${survivor.output().slice(-3000)}`)
        if (told.replayed) replays += 1
        if (known) expect(told.replayed).toBe(true)
      }
      const asked_s = (performance.now() - diedAt) / 1000
      await world.settled(leaseSeconds + 5 + 20)
      const recovery_s = Number(((performance.now() - diedAt) / 1000).toFixed(2))
      await Promise.all(cancels)
      const violations = [...(await world.violations())]
      // Some of them only began when they were asked for again.
      if (recovery_s > Math.max(leaseSeconds, asked_s) + 5) violations.push(`${recovery_s} s until every run was final`)
      const states = await world.runs()
      const mine = new Set(runs.map((one) => one.key))
      const lost = states.filter(
        (run) =>
          mine.has(run.key) && run.attempts.some((one) => ["worker_lost", "outcome_unknown"].includes(one.outcome))
      ).length
      report({
        test: "T21",
        backend,
        point,
        runs: runs.length,
        acknowledged,
        replays,
        cancels: cancels.length,
        worker_lost: lost,
        faults: 1,
        violations,
        recovery_s
      })
      expect(violations).toEqual([])
    },
    180_000
  )
})

describe.each(backends)("T21 mail.after on %s, with nobody left", (backend) => {
  let world: World
  afterAll(() => world?.close())

  test("what was delivered and is in the mail counts, however late the next worker comes", async () => {
    world = await World.open({ backend })
    const front = await world.start("http")
    const first = await world.start("worker")
    await world.openAccounts()
    await first.kill()
    const doomed = await world.start("worker", { RUNGATE_CRASH_AT: "mail.after:1" })
    const asked = world.send("Hit")
    expect(await world.submit(front, asked)).not.toBeNull()
    expect((await doomed.ended).signal).toBe("SIGKILL")
    await until("the end of every lease", 10_000, async () => {
      const [row] = await world.query<{ living: number }>(
        "SELECT count(*) AS living FROM workers WHERE expires_at > now()"
      )
      return row?.living === 0
    })
    await world.start("worker")
    const recovery_s = Number((await world.settled(20)).toFixed(2))
    const violations = await world.violations()
    const [run] = await world.runs()
    report({ test: "T21", backend, point: "mail.after, alone", runs: 1, faults: 1, violations, recovery_s })
    expect(violations).toEqual([])
    expect(run?.status).toBe("succeeded")
  })
})
