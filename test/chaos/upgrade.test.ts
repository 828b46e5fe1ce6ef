/**
 * T67 deploy.upgrade: the last release and the next one (the sources with one more migration, next-release.ts) share one database, which the next
 * one migrates under load, and replace each other in both directions. No request fails that a load balancer sends to a ready process, and the audits of both releases find the books right.
 *
 * If this fails after a change of the schema, the change breaks the release that is running while users upgrade: CONTRIBUTING.md, "Migrations".
 */
import { afterEach, describe, expect, test } from "bun:test"
import { join as pathOf } from "node:path"
import { loadOf } from "./balancer.ts"
import { type Service, type Start, until } from "./processes.ts"
import { lastRelease } from "./release.ts"
import { backends, leaseSeconds, percentile, report, World } from "./world.ts"

/** Six starts of a process and two minutes of load on a machine that does other things. */
const testMillisMax = 300_000
const stopped = { code: 0, signal: null }
const settings = { RUNGATE_STOP_DELAY_SECONDS: "1", RUNGATE_DRAIN_SECONDS: "5" }
const old = lastRelease()
const next: Start = { command: [process.execPath, pathOf(import.meta.dir, "next-release.ts")] }
const nextSchema = 9001

let world: World | undefined
afterEach(async () => {
  await world?.close()
  world = undefined
})

const migrated = async (here: World) => {
  const [row] = await here.query<{ version: number }>("SELECT max(migration_id) AS version FROM effect_sql_migrations")
  return row?.version
}

/** What the audits of both releases find, each as a sentence. */
const auditsOf = async (here: World) => [
  ...(await here.audit()),
  ...(await here.audit(old.command)).map((one) => `${old.version}: ${one}`)
]

const end = (service: Service) => {
  service.signal("SIGTERM")
  return service.ended
}

describe.each(backends)("T67 deploy.upgrade on %s", (backend) => {
  test(
    "the last release is replaced under load, and comes back, and nobody notices",
    async () => {
      world = await World.open({ backend, settings })
      const here = world
      const members: Array<Service> = []
      const join = async (how?: Start) => {
        const service = await here.start("all", {}, how)
        members.push(service)
        return service
      }
      const first = await join({ command: old.command })
      expect(await migrated(here)).toBe(old.schema)
      await here.openAccounts()
      const load = loadOf(here, () => members)
      await load.more(first, 20)

      const second = await join(next)
      expect(await migrated(here)).toBe(nextSchema)
      await until("the end of the background migration", 30_000, async () => {
        const rows = await here.query(
          "SELECT FROM background_migrations WHERE name = 'next_orgs' AND finished_at IS NOT NULL"
        )
        return rows.length === 1
      })
      expect(
        await here.query("SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'ledger_next'::regclass")
      ).toEqual([{ valid: true }])
      await Promise.all([load.more(first, 20), load.more(second, 20)])
      expect(await auditsOf(here)).toEqual([])
      expect(await end(first)).toMatchObject(stopped)
      await load.more(second, 20)

      // The way back: the last release starts on the newer schema.
      const third = await join({ command: old.command })
      await Promise.all([load.more(second, 20), load.more(third, 20)])
      expect(await auditsOf(here)).toEqual([])
      expect(await end(second)).toMatchObject(stopped)
      await load.more(third, 20)
      await load.stop()
      await here.settled(30)
      const violations = [...(await here.violations()), ...(await auditsOf(here))]
      report({
        test: "T67",
        backend,
        from: old.schema,
        to: nextSchema,
        requests: load.total(),
        to_each: members.map(load.answered),
        failed: load.failures.length,
        p99: percentile(load.millis, 0.99),
        violations
      })
      expect(load.failures).toEqual([])
      expect(violations).toEqual([])
      expect(await migrated(here)).toBe(nextSchema)
    },
    testMillisMax
  )

  test(
    "runs that one release began are ended by the other",
    async () => {
      world = await World.open({ backend, settings })
      const here = world
      /** Starts runs in `from`, kills it while their providers have not answered, and waits until `to` has asked again and ended them. */
      const cross = async (from: Service, to: () => Promise<Service>, count: number) => {
        const asked = Array.from({ length: count }, () => here.find("Hold"))
        const calls = (most: number) => () => asked.every((one) => here.meter.of(one.key).length >= most)
        for (const one of asked) expect(await here.submit(from, one)).not.toBeNull()
        await until("calls of all runs", 20_000, calls(1))
        const other = await to()
        await from.kill()
        await until("calls by the other release", 30_000, calls(2))
        here.meter.release()
        await here.settled(leaseSeconds + 25)
        return other
      }
      const before = await here.start("all", {}, { command: old.command })
      await here.openAccounts()
      const after = await cross(before, () => here.start("all", {}, next), 8)
      const again = await cross(after, () => here.start("all", {}, { command: old.command }), 8)
      expect(await here.violations()).toEqual([])
      expect(await here.audit(old.command)).toEqual([])
      await again.kill()

      // A request that one release accepts is decided and executed by the other.
      for (const [http, worker] of [
        [old.command, next.command],
        [next.command, old.command]
      ] as const) {
        const door = await here.start("http", {}, { command: http })
        const hands = await here.start("worker", {}, { command: worker })
        for (const asked of [here.find("Hit"), here.find("Miss"), here.send("Hit")]) {
          const told = await here.submit(door, asked, 20)
          expect(told).toMatchObject({ status: 200, run_status: "succeeded" })
        }
        await door.kill()
        await hands.kill()
      }
      expect(await here.violations()).toEqual([])
      expect(await here.audit(old.command)).toEqual([])
      const lost = (await here.runs()).filter((run) => run.attempts.some((one) => one.outcome === "worker_lost"))
      expect(lost).toHaveLength(16)
      expect(lost.every((run) => run.status === "succeeded")).toBe(true)
    },
    testMillisMax
  )
})
