/**
 * T22 worker.freeze_resume and T23 queue.stalled_limit: a process that stands still for longer than every lease, and a
 * queue job that dies with its worker twice.
 *
 * The frozen process wakes up believing that it still holds its runs and lanes. Nothing that it does then may count.
 */
import { afterEach, describe, expect, test } from "bun:test"
import { until } from "./processes.ts"
import { type Asked, backends, leaseSeconds, report, World } from "./world.ts"

let world: World | undefined
afterEach(async () => {
  await world?.close()
  world = undefined
})

const settles = async (world: World) => {
  const rows = await world.query<{ run_id: string; count: number }>(
    "SELECT run_id, count(*) AS count FROM ledger WHERE type = 'settle' GROUP BY run_id"
  )
  return new Map(rows.map((row) => [row.run_id, row.count]))
}

describe.each(backends)("on %s", (backend) => {
  test("T22 worker.freeze_resume with calls under way", async () => {
    world = await World.open({ backend })
    const here = world
    const frozen = await here.start("worker")
    const front = await here.start("http")
    await here.openAccounts()
    const finds = Array.from({ length: 6 }, () => here.find("Hold"))
    const sends = Array.from({ length: 2 }, () => here.send("Hold"))
    for (const asked of [...finds, ...sends]) expect(await here.submit(front, asked)).not.toBeNull()
    await until("every run at its provider", 10_000, () => here.meter.open() === finds.length + sends.length)
    frozen.signal("SIGSTOP")
    // The answers wait for it, and whoever takes over gets its own at once.
    here.meter.hurry()
    here.meter.release()
    const other = await here.start("worker")
    await here.settled(leaseSeconds * 2 + 20)
    const before = await settles(here)
    // Twice the lease in all: by now everything has been taken over and ended elsewhere.
    await Bun.sleep(leaseSeconds * 2_000)
    frozen.signal("SIGCONT")
    await until("the late worker's reports to be refused", 20_000, () =>
      frozen.output().includes("renewed its lease too late")
    )
    await until("an empty mailbox", 20_000, async () => {
      const [row] = await here.query<{ count: number }>("SELECT count(*) AS count FROM mailbox")
      return row?.count === 0
    })
    const after = await settles(here)
    const violations = [...(await here.violations())]
    const runs = await here.runs()
    for (const run of runs) {
      if ((after.get(run.run_id) ?? 0) > 1) violations.push(`${run.run_id} was settled ${after.get(run.run_id)} times`)
      if (after.get(run.run_id) !== before.get(run.run_id))
        violations.push(`${run.run_id} was settled by the late worker`)
      const expected = run.capability === "email.send" ? "failed" : "succeeded"
      if (run.status !== expected) violations.push(`${run.run_id} is ${run.status}, not ${expected}`)
    }
    // The one that was frozen works on as a new worker.
    await other.kill()
    const again = here.find("Hit")
    const told = await here.submit(front, again, 20)
    expect(told?.run_status).toBe("succeeded")
    report({ test: "T22", backend, point: "provider", runs: runs.length + 1, faults: 1, violations })
    expect(violations).toEqual([])
  })

  test("T22 worker.freeze_resume amid a wallet's turn, with its locks held", async () => {
    world = await World.open({ backend })
    const here = world
    const front = await here.start("http")
    const first = await here.start("worker")
    await here.openAccounts()
    await first.kill()
    const frozen = await here.start("worker", { RUNGATE_CRASH_AT: "turn.before_commit:2:stop" })
    const runs: Array<Asked> = []
    const began = performance.now()
    for (let n = 0; n < 12; n++) {
      const asked = n % 3 === 0 ? here.send("Hit") : here.find("Hit")
      runs.push(asked)
      expect(await here.submit(front, asked)).not.toBeNull()
    }
    await until("the frozen state", 10_000, async () =>
      /^State:\s+T/m.test(await Bun.file(`/proc/${frozen.pid}/status`).text())
    )
    await here.start("worker")
    await here.settled(40)
    const recovery_s = Number(((performance.now() - began) / 1000).toFixed(2))
    frozen.signal("SIGCONT")
    await until("the process to notice", 20_000, () => frozen.output().includes("renewed its lease too late"))
    const told = await here.submit(front, here.find("Hit"), 20)
    expect(told?.run_status).toBe("succeeded")
    const violations = await here.violations()
    report({ test: "T22", backend, point: "turn", runs: runs.length + 1, faults: 1, violations, recovery_s })
    expect(violations).toEqual([])
  })

  test("T23 queue.stalled_limit: two workers die in the same lane's job", async () => {
    world = await World.open({ backend })
    const here = world
    const front = await here.start("http")
    const first = await here.start("worker")
    await here.openAccounts()
    await first.kill()
    const runs = Array.from({ length: 8 }, (_, n) => (n % 4 === 0 ? here.send("Hit") : here.find("Hit")))
    const deaths: Array<number> = []
    for (let death = 0; death < 2; death++) {
      const doomed = await here.start("worker", { RUNGATE_CRASH_AT: "turn.before_commit:1" })
      if (death === 0) for (const asked of runs) expect(await here.submit(front, asked)).not.toBeNull()
      const began = performance.now()
      await until("its death", 30_000, () => !doomed.alive())
      expect((await doomed.ended).signal).toBe("SIGKILL")
      deaths.push(Number(((performance.now() - began) / 1000).toFixed(2)))
    }
    await here.start("worker")
    const recovery_s = Number((await here.settled(30)).toFixed(2))
    const violations = await here.violations()
    report({ test: "T23", backend, runs: runs.length, faults: 2, violations, pickup_s: deaths, recovery_s })
    expect(violations).toEqual([])
  })
})
