/** What owners and operators read of the books: entries, losses, margins, open runs and the figures of `/metrics`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { Books } from "../../../src/layers/ledger/Books.ts"
import { allEntries } from "../../../src/layers/ledger/EntryList.ts"
import { Losses } from "../../../src/layers/ledger/Losses.ts"
import { Margins } from "../../../src/layers/ledger/Margins.ts"
import { Stats } from "../../../src/layers/ledger/Stats.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { Leases } from "../../../src/layers/runs/Leases.ts"
import { RunStore } from "../../../src/layers/runs/RunStore.ts"
import type { NewRun } from "../../../src/layers/runs/NewRuns.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { newRun } from "../../kit/new-runs.ts"
import { startStorage, type StorageRuntime } from "../../kit/storage.ts"
import { credit, report, takeTurn } from "../../kit/turns.ts"

const worker = newId("wrk")
let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage()
  await runtime.runPromise(Effect.flatMap(Leases, (leases) => leases.register(worker, 600)))
})
afterAll(() => runtime.dispose())

const credited = Effect.fnUntraced(function* (org_id: string, amount: string, type: "bonus" | "refund" = "bonus") {
  const reference = yield* credit(org_id, amount, { type, note: "a note" })
  yield* takeTurn(org_id, worker)
  return reference
})
const funded = Effect.gen(function* () {
  const org_id = yield* (yield* Accounts).createOrganization("reports", null)
  return { org_id, reference: yield* credited(org_id, "10.00") }
})
const started = Effect.fnUntraced(function* (org_id: string, changed: Partial<NewRun> = {}) {
  const run = newRun(org_id, { hold: dollars("0.10"), quoted: dollars("0.10"), ...changed })
  yield* (yield* RunStore).admit(run)
  const turn = yield* takeTurn(org_id, worker)
  const { lease_token } = turn.started.find(({ run_id }) => run_id === run.run_id) ?? expect.unreachable("not started")
  return { run_id: run.run_id, org_id, lease_token }
})
interface Ended {
  readonly status?: "succeeded" | "failed"
  readonly charge?: string
  readonly provider?: string | null
  readonly provider_cost?: string
}
const settled = Effect.fnUntraced(function* (run: Effect.Success<ReturnType<typeof started>>, ended: Ended) {
  const { status = "succeeded", provider = "hunter", charge = "0.05", provider_cost } = ended
  const cost = provider_cost === undefined ? undefined : dollars(provider_cost)
  const costs =
    status === "failed" || cost === undefined ? {} : { costs: [{ provider: provider ?? "", cost, delivering: true }] }
  const paid = cost === undefined ? {} : { provider_cost: cost, ...costs }
  yield* report(run, { status, provider, charge: dollars(charge), ...paid }, null)
  yield* takeTurn(run.org_id, worker)
  return run.run_id
})
const ran = Effect.fnUntraced(function* (org_id: string, ended: Ended, changed: Partial<NewRun> = {}) {
  return yield* settled(yield* started(org_id, changed), ended)
})

describe("ledger entries", () => {
  test("are listed newest first, by type, run and time, and the same time is in one of two months only", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const books = yield* Books
        const sql = yield* SqlClient.SqlClient
        const { org_id } = yield* funded
        const run_id = yield* ran(org_id, { charge: "0.04" })
        const other = yield* funded
        yield* ran(other.org_id, {})
        yield* credited(org_id, "1.00", "refund")
        const list = (filter: object, before: bigint | null = null, limit = 10) =>
          Effect.map(books.entries(org_id, before, limit, { ...allEntries, ...filter }), (entries) =>
            entries.map(({ type, amount }) => `${type} ${amount}`)
          )
        const all = ["refund 1000000", "release 60000", "settle -40000", "reserve -100000", "bonus 10000000"]
        expect(yield* list({})).toEqual(all)
        expect(yield* list({}, 4n)).toEqual(all.slice(2))
        expect(yield* list({}, null, 2)).toEqual(all.slice(0, 2))
        expect(yield* list({ run_id })).toEqual(all.slice(1, 4))
        expect(yield* list({ run_id: "run_other" })).toEqual([])
        for (const type of ["refund", "release", "settle", "reserve", "bonus", "topup"])
          expect(yield* list({ type })).toEqual(all.filter((entry) => entry.startsWith(`${type} `)))
        // Node's dates have milliseconds, and the database microseconds.
        yield* sql`ALTER TABLE ledger DISABLE TRIGGER USER`
        yield* sql`UPDATE ledger SET created_at = date_trunc('milliseconds', created_at) WHERE org_id = ${org_id}`
        yield* sql`ALTER TABLE ledger ENABLE TRIGGER USER`
        const [newest] = yield* books.entries(org_id, null, 1)
        const at = newest?.created_at ?? new Date(0)
        const later = new Date(at.getTime() + 1)
        expect(yield* list({ from: later })).toEqual([])
        expect(yield* list({ to: later })).toEqual(all)
        expect(yield* list({ from: at })).toContain("refund 1000000")
        expect(yield* list({ to: at })).not.toContain("refund 1000000")
      })
    ))

  test("have one for each credit, found by its reference in its own organization", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const books = yield* Books
        const [one, two] = [yield* funded, yield* funded]
        const run_id = yield* ran(one.org_id, {})
        expect(yield* books.credit(one.org_id, one.reference)).toMatchObject({
          type: "bonus",
          amount: 10_000_000n,
          seq: 1n,
          note: "a note"
        })
        expect(yield* books.credit(two.org_id, one.reference)).toBeNull()
        // A run's entries have its id as their reference, and are no credits.
        expect(yield* books.credit(one.org_id, run_id)).toBeNull()
      })
    ))
})

test("a wallet says what is owned, held and spent today, and the runs that hold it, oldest first", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const books = yield* Books
      const sql = yield* SqlClient.SqlClient
      const { org_id } = yield* funded
      yield* ran(org_id, { charge: "0.04" })
      const [first, second] = [
        yield* started(org_id),
        yield* started(org_id, { capability: null, kind: "endpoint", endpoint: "hunter /v2/find" })
      ]
      const elsewhere = yield* funded
      yield* started(elsewhere.org_id)
      expect(yield* books.wallet(org_id)).toMatchObject({
        ...{ balance: 9_960_000n, reserved: 200_000n, allowances_held: 0n, spent_today: 40_000n },
        ...{ per_run_limit: null, daily_limit: null, suspended: false }
      })
      expect(yield* books.openRuns(org_id, 10)).toMatchObject([
        { run_id: first.run_id, capability: "email.find", endpoint: null, state: "running", hold: 100_000n },
        { run_id: second.run_id, capability: null, endpoint: "hunter /v2/find", state: "running", hold: 100_000n }
      ])
      expect((yield* books.openRuns(org_id, 1)).map(({ run_id }) => run_id)).toEqual([first.run_id])
      yield* sql`UPDATE wallets SET spent_day = spent_day - 1 WHERE org_id = ${org_id}`
      const { spent_today, resets_at } = yield* books.wallet(org_id)
      expect([spent_today, resets_at.toISOString().slice(11)]).toEqual([0n, "00:00:00.000Z"])
      expect(resets_at.getTime()).toBeGreaterThan(Date.now() - 1_000)
    })
  ))

describe("losses", () => {
  test("are listed newest first, by organization and time, and summed by provider and reason", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const losses = yield* Losses
        const sql = yield* SqlClient.SqlClient
        const [{ org_id }, other] = [yield* funded, yield* funded]
        const first = yield* ran(org_id, { charge: "0.01", provider_cost: "0.03" })
        const second = yield* ran(org_id, { charge: "0.01", provider_cost: "0.05" })
        const third = yield* ran(org_id, { charge: "0.01", provider: "prospeo", provider_cost: "0.02" })
        yield* ran(org_id, { charge: "0.05", provider_cost: "0.05" })
        yield* ran(other.org_id, { charge: "0.01", provider_cost: "0.02" })
        yield* ran(other.org_id, { status: "failed", charge: "0", provider: "apollo", provider_cost: "0.09" })
        const [newest] = yield* losses.list({ org_id, since: null }, null, 1)
        expect(newest).toMatchObject({
          ...{
            run_id: third,
            org_id,
            capability: "email.find",
            endpoint: null,
            provider: "prospeo",
            reason: "below_cost"
          },
          ...{ charge: 10_000n, cost: 20_000n, loss: 10_000n }
        })
        yield* sql`ALTER TABLE losses DISABLE TRIGGER USER`
        yield* sql`UPDATE losses SET at = now() - interval '3 days' WHERE run_id = ${first}`
        const ids = (rows: ReadonlyArray<{ readonly run_id: string }>) => rows.map(({ run_id }) => run_id)
        const since = new Date(Date.now() - 86_400_000)
        expect(ids(yield* losses.list({ org_id, since: null }, null, 10))).toEqual([third, second, first])
        expect(ids(yield* losses.list({ org_id, since: null }, third, 1))).toEqual([second])
        expect(ids(yield* losses.list({ org_id, since }, null, 10))).toEqual([third, second])
        expect((yield* losses.list({ org_id: null, since: null }, null, 10)).length).toBe(5)
        expect(yield* losses.totals({ org_id, since: null })).toEqual([
          { provider: "hunter", reason: "below_cost", runs: 2n, loss: 60_000n },
          { provider: "prospeo", reason: "below_cost", runs: 1n, loss: 10_000n }
        ])
        expect(yield* losses.totals({ org_id, since })).toMatchObject([{ runs: 1n, loss: 40_000n }, { runs: 1n }])
        const all = [
          { provider: "apollo", reason: "failed_attempts", runs: 1n, loss: 90_000n },
          { provider: "hunter", reason: "below_cost", runs: 3n, loss: 70_000n },
          { provider: "prospeo", reason: "below_cost", runs: 1n, loss: 10_000n }
        ]
        expect(yield* losses.totals({ org_id: null, since: null })).toEqual(all)
        // The running sums, which the metrics read, are ordered by provider.
        expect(yield* losses.sums).toEqual(all)
      })
    ))
})

test("what a run's providers cost is known for that run only", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const books = yield* Books
      const { org_id } = yield* funded
      const [measured, unknown] = [yield* ran(org_id, { provider_cost: "0.02" }), yield* ran(org_id, {})]
      expect([yield* books.providerCost(measured), yield* books.providerCost(unknown)]).toEqual([20_000n, null])
    })
  ))

test("margins count runs that charged or cost something in their days, and charged ones of unknown cost apart", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const margins = yield* Margins
      const sql = yield* SqlClient.SqlClient
      const { org_id } = yield* funded
      const capability = "people.enrich"
      const of = { capability }
      yield* ran(org_id, { charge: "0.05", provider_cost: "0.04" }, of)
      yield* ran(org_id, { charge: "0.03", provider_cost: "0.01" }, of)
      yield* ran(org_id, { charge: "0.02" }, of)
      yield* ran(org_id, { status: "failed", charge: "0", provider_cost: "0.02" }, of)
      yield* ran(org_id, { status: "failed", charge: "0" }, of)
      yield* ran(org_id, { status: "failed", charge: "0", provider_cost: "0" }, of)
      const old = yield* ran(org_id, { charge: "0.05", provider_cost: "0.04", provider: "apollo" }, of)
      yield* ran(org_id, { charge: "0.02" }, { capability: "people.unknown" })
      yield* sql`ALTER TABLE runs_recent DISABLE TRIGGER USER`
      yield* sql`UPDATE runs_recent SET finished_at = now() - interval '3 days' WHERE run_id = ${old}`
      const rows = (days: number) =>
        Effect.map(margins.list(days), (all) => all.filter((row) => row.capability === capability))
      const hunter = {
        provider: "hunter",
        capability,
        endpoint: null,
        runs: 4n,
        charged: 100_000n,
        cost: 70_000n,
        unknown: 1n
      }
      expect(yield* rows(2)).toEqual([hunter])
      expect(yield* rows(4)).toHaveLength(2)
      const unknown = (yield* margins.list(2)).filter((row) => row.capability === "people.unknown")
      expect(unknown).toMatchObject([{ runs: 1n, charged: 20_000n, cost: 0n, unknown: 1n }])
      expect(yield* rows(4)).toContainEqual({
        ...hunter,
        provider: "apollo",
        runs: 1n,
        charged: 50_000n,
        cost: 40_000n,
        unknown: 0n
      })
    })
  ))

test("a report on margins may take long, and no later statement may", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // Asks more often at once than there are connections, so that each of them answers with the limit of ordinary statements.
      const limits = Effect.map(
        Effect.all(
          Array.from(
            { length: 40 },
            () => sql<{ limit: string }>`SELECT current_setting('statement_timeout') AS limit FROM pg_sleep(0.02)`
          ),
          { concurrency: "unbounded" }
        ),
        (rows) => new Set(rows.flat().map(({ limit }) => limit))
      )
      yield* (yield* Margins).list(1)
      expect([...(yield* limits)]).toEqual(["15s"])
    })
  ))

test("the figures of /metrics count open runs, held money and what waits, over all organizations", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const stats = yield* Stats
      const sql = yield* SqlClient.SqlClient
      const before = yield* stats.read
      const { org_id } = yield* funded
      const of = { capability: "domain.figures" }
      const [one, two] = [yield* started(org_id, of), yield* started(org_id, of)]
      yield* started(org_id, { capability: null, kind: "endpoint", endpoint: "hunter /v2/find" })
      const after = yield* stats.read
      expect(after.reserved - before.reserved).toBe(300_000n)
      expect([after.mailbox, after.oldest_command, after.oldest_run]).toEqual([0n, 0, 0])
      expect(after.runs).toContainEqual({ capability: "domain.figures", status: "running", count: 2n })
      const raw = (all: typeof after) => all.runs.find(({ capability }) => capability === "endpoint")?.count ?? 0n
      expect(raw(after) - raw(before)).toBe(1n)
      yield* sql`UPDATE open_runs SET state = 'queued', worker_id = NULL, lease_token = NULL, since = now() - interval '90 seconds' WHERE run_id = ${one.run_id}`
      yield* sql`UPDATE open_runs SET since = now() - interval '1 hour' WHERE run_id = ${two.run_id}`
      const newest = yield* started(org_id, { capability: "domain.newest" })
      yield* sql`UPDATE open_runs SET state = 'queued', worker_id = NULL, lease_token = NULL, since = now() WHERE run_id = ${newest.run_id}`
      yield* (yield* RunStore).admit(newRun(org_id, of))
      yield* (yield* RunStore).admit(newRun(org_id, of))
      yield* sql`UPDATE mailbox SET created_at = now() - interval '1 hour', parked = 'broken' WHERE id = (SELECT min(id) FROM mailbox)`
      yield* sql`UPDATE mailbox SET created_at = now() - interval '40 seconds' WHERE parked IS NULL`
      const waiting = yield* stats.read
      expect(waiting.runs).toContainEqual({ capability: "domain.figures", status: "queued", count: 1n })
      expect(waiting.mailbox).toBe(2n)
      // A parked command and a running run are no backlog, however old they are.
      expect(Math.floor(waiting.oldest_command / 30)).toBe(1)
      expect(Math.floor(waiting.oldest_run / 60)).toBe(1)
    })
  ))
