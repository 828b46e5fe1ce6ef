/**
 * Event streams while a process that executes runs and writes the log dies by SIGKILL at each step of it.
 *
 * Whoever listens, at the process that dies or at the other one, gets every event of every run once and in order, and one alert.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { listen, ofRun, type Reader, type Received, typesOf } from "../kit/event-stream.ts"
import { askUntilDeath, clients } from "./dying.ts"
import { type Service, until } from "./processes.ts"
import { backends, leaseSeconds, report, World } from "./world.ts"

const points = ["events.before_commit:3", "events.after_commit:3", "turn.after_commit:5", "attempt.after:3"]

const stepOf: Readonly<Record<string, number>> = {
  "run.created": 0,
  "run.started": 1,
  "run.attempt": 2,
  "run.finished": 3
}

/** What is wrong with the events of a run, as a sentence; null when they are complete and in order. */
const fault = (events: ReadonlyArray<Received>): string | null => {
  const types = typesOf(events)
  const steps = types.map((type) => stepOf[type] ?? -1)
  if (steps.some((step, index) => step < (steps[index - 1] ?? 0))) return `out of order: ${types}`
  for (const type of ["run.created", "run.finished"])
    if (types.filter((one) => one === type).length !== 1) return `not one ${type}: ${types}`
  const numbers = events.filter(({ type }) => type === "run.attempt").map(({ data }) => data.number)
  if (numbers.some((number, index) => number !== index + 1)) return `attempts ${numbers}`
  return events.at(-1)?.data.attempts === numbers.length ? null : `attempts are missing: ${types}`
}

describe.each(backends)("event streams under kill -9 on %s", (backend) => {
  let world: World
  let survivor: Service
  beforeAll(async () => {
    world = await World.open({ backend })
    survivor = await world.start("all", { RUNGATE_CONCURRENCY: "2", RUNGATE_ORG_CONCURRENCY: "2" })
    await world.openAccounts()
  })
  afterAll(() => world?.close())

  test.each(points)(
    "%s",
    async (point) => {
      const doomed = await world.start("all", { RUNGATE_CRASH_AT: point })
      const [customer] = world.customers
      if (customer === undefined) throw new Error("no customer")
      const { org_id, token } = customer
      const balance = async () => {
        const [row] = await world.query<{ balance: number }>("SELECT balance FROM wallets WHERE org_id = $1", [org_id])
        return row?.balance ?? 0
      }
      const lows = async () => {
        const rows = await world.query<{ count: number }>(
          "SELECT count(*)::int AS count FROM events WHERE org_id = $1 AND kind = 'wallet.low'",
          [org_id]
        )
        return rows[0]?.count ?? 0
      }
      const newest = async () => {
        const [row] = await world.query<{ run_id: string | null }>(
          "SELECT max(run_id) AS run_id FROM runs WHERE org_id = $1",
          [org_id]
        )
        return row?.run_id ?? ""
      }
      const [before, earlier] = [await lows(), await newest()]
      const safe = await listen(survivor.url, token)
      let lost: Reader = await listen(doomed.url, token)
      const seen: Array<Received> = []
      const threshold = ((await balance()) - 1) / 1_000_000
      const set = await fetch(`${survivor.url}/v1/spend-guard`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ low_balance: threshold.toFixed(6) })
      })
      expect(set.status).toBe(200)

      let asked = 0
      await askUntilDeath(doomed, point, clients, () => {
        asked += 1
        return world.submit(doomed, asked % 3 === 0 ? world.find("Miss") : world.find("Hit"), 2)
      })
      await lost.ended
      seen.push(...lost.events)
      const last = seen.at(-1)?.id
      lost = await listen(survivor.url, token, "/v1/events", last === undefined ? {} : { "last-event-id": last })
      expect(lost.status).toBe(200)

      // The process may have died before it stored a run of this customer.
      for (const _ of world.customers) await world.submit(survivor, world.find("Hit"), 2)

      await until("no open run", leaseSeconds * 1_000 + 15_000, async () => {
        const [row] = await world.query<{ open: number }>(
          "SELECT (SELECT count(*) FROM open_runs)::int + (SELECT count(*) FROM mailbox)::int AS open"
        )
        return row?.open === 0
      })
      const all = await world.query<{ run_id: string }>("SELECT run_id FROM runs WHERE org_id = $1 AND run_id > $2", [
        org_id,
        earlier
      ])
      const runs = all.map(({ run_id }) => run_id)
      expect(runs).not.toEqual([])
      const complete = (reader: () => ReadonlyArray<Received>) =>
        until("every run's end", 20_000, () =>
          runs.every((run_id) => ofRun(reader(), run_id).some(({ type }) => type === "run.finished"))
        )
      const resumed = () => (last === undefined ? lost.events : [...seen, ...lost.events])
      await complete(() => safe.events)
      if (last !== undefined) await complete(resumed)
      for (const events of last === undefined ? [safe.events] : [safe.events, resumed()]) {
        expect(runs.flatMap((run_id) => fault(ofRun(events, run_id)) ?? [])).toEqual([])
        const ids = events.map(({ id }) => id)
        expect([new Set(ids).size, ids.toSorted()]).toEqual([ids.length, ids])
      }
      await until("the alert", 20_000, async () => (await lows()) > before)
      expect(await lows()).toBe(before + 1)
      report({ test: "events.kill9", backend, point, runs: runs.length, events: safe.events.length })
      safe.close()
      lost.close()
    },
    180_000
  )
})
