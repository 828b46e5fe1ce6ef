/** What a turn stores of runs, of the budgets that they count against, and of how their providers worked. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { decideTurn } from "../../../src/actors/wallet/DecideTurn.ts"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { OptOuts } from "../../../src/layers/guards/OptOuts.ts"
import { TurnStore } from "../../../src/layers/ledger/TurnStore.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { Leases } from "../../../src/layers/runs/Leases.ts"
import { RunStore } from "../../../src/layers/runs/RunStore.ts"
import type { NewRun } from "../../../src/layers/runs/NewRuns.ts"
import { optOutDigest } from "../../../src/schema/guards/OptOut.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import type { SettleReport } from "../../../src/schema/runs/SettleReport.ts"
import { newRun, planOfOne } from "../../kit/new-runs.ts"
import { startStorage, type StorageRuntime, untilBlocking } from "../../kit/storage.ts"
import { credit, report, takeTurn } from "../../kit/turns.ts"

const worker = newId("wrk")
let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage()
  await runtime.runPromise(Effect.flatMap(Leases, (leases) => leases.register(worker, 600)))
})
afterAll(() => runtime.dispose())

const funded = Effect.gen(function* () {
  const org_id = yield* (yield* Accounts).createOrganization("turns", null)
  yield* credit(org_id, "10.00")
  yield* takeTurn(org_id, worker)
  return org_id
})
const admitted = Effect.fnUntraced(function* (org_id: string, changed: Partial<NewRun> = {}) {
  const run = newRun(org_id, { hold: dollars("0.10"), quoted: dollars("0.10"), ...changed })
  yield* (yield* RunStore).admit(run)
  return run.run_id
})
/** Sends the end of a run, which a later turn applies. */
const reported = Effect.fnUntraced(function* (
  org_id: string,
  run_id: string,
  changed: Partial<SettleReport> = {},
  result: string | null = null
) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ lease_token: string }>`SELECT lease_token FROM open_runs WHERE run_id = ${run_id}`
  yield* report(
    { org_id, run_id, lease_token: row?.lease_token ?? "" },
    { charge: dollars("0.05"), ...changed },
    result
  )
})
const ran = Effect.fnUntraced(function* (
  org_id: string,
  changed: Partial<NewRun> = {},
  ended: Partial<SettleReport> = {}
) {
  const run_id = yield* admitted(org_id, changed)
  yield* takeTurn(org_id, worker)
  yield* reported(org_id, run_id, ended)
  yield* takeTurn(org_id, worker)
  return run_id
})
const runOf = Effect.fnUntraced(function* (run_id: string) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT * FROM runs WHERE run_id = ${run_id}`)[0] ?? expect.unreachable("no such run")
})

describe("runs of one turn", () => {
  test("count as open while they are, and are stored with all that was reported of them", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* funded
        const openRuns = Effect.map(
          sql<{ open_runs: bigint }>`SELECT open_runs FROM wallets WHERE org_id = ${org_id}`,
          ([row]) => Number(row?.open_runs)
        )
        const ids = [yield* admitted(org_id), yield* admitted(org_id), yield* admitted(org_id)]
        const { started } = yield* takeTurn(org_id, worker)
        expect(started.map(({ run_id }) => run_id)).toEqual(ids)
        expect(yield* openRuns).toBe(3)
        const [one = "", two = "", three = ""] = ids
        const attempts = [{ provider: "hunter", outcome: "no_match", duration_ms: 7, detail: "nobody" }]
        const hints = ["another domain may have one"]
        yield* reported(org_id, one, { attempts, hints, provider_cost: dollars("0.03") }, '{"email":"ada@example.com"}')
        const error = { code: "provider_error", message: "the provider is away" }
        yield* reported(org_id, two, { status: "failed", error, provider: null })
        yield* takeTurn(org_id, worker)
        expect(yield* openRuns).toBe(1)
        expect(yield* runOf(one)).toMatchObject({
          ...{ status: "succeeded", charged: 50_000n, provider_cost: 30_000n, provider: "hunter", attempts, hints },
          ...{ error_code: null, error_message: null, control: null, result: { email: "ada@example.com" } }
        })
        expect(yield* runOf(two)).toMatchObject({
          ...{ status: "failed", charged: null, provider_cost: null, attempts: [], hints: [], result: null },
          // Without a provider in the report, the one that was planned stays.
          ...{ error_code: "provider_error", error_message: "the provider is away", provider: "hunter" }
        })
        expect(yield* runOf(three)).toMatchObject({ finished_at: null, charged: null })
        expect(yield* sql`SELECT run_id, state, hold FROM open_runs WHERE org_id = ${org_id}`).toEqual([
          { run_id: three, state: "running", hold: 100_000n }
        ])
      })
    ))

  test("and other commands are taken in their order, as many as a turn takes; the rest stays", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const turns = yield* TurnStore
        const org_id = yield* (yield* Accounts).createOrganization("turns", null)
        for (const amount of ["1.00", "2.00", "3.00"]) yield* credit(org_id, amount)
        const [wallet] = yield* sql<{ lane: number }>`SELECT lane FROM wallets WHERE org_id = ${org_id}`
        const names = { txn_id: () => newId("txn"), payment_id: () => newId("pay"), token: () => newId("cmd") }
        const two = turns.turn(wallet?.lane ?? 0, 2, [], false, (view) =>
          decideTurn(view, { workerId: worker, tryTake: () => true }, names)
        )
        const amounts = Effect.map(
          sql<{ amount: bigint }>`SELECT amount FROM ledger WHERE org_id = ${org_id} ORDER BY seq`,
          (rows) => rows.map(({ amount }) => amount)
        )
        expect((yield* two)?.taken).toBe(2)
        expect(yield* amounts).toEqual([1_000_000n, 2_000_000n])
        expect(yield* sql`SELECT FROM mailbox WHERE org_id = ${org_id}`).toHaveLength(1)
        expect((yield* two)?.taken).toBe(1)
        expect(yield* amounts).toEqual([1_000_000n, 2_000_000n, 3_000_000n])
        expect(yield* two).toBeNull()
      })
    ))

  test("are entered at the database's time, to the microsecond, and a credit is booked once for its reference", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* (yield* Accounts).createOrganization("turns", null)
        const [before] = yield* sql<{
          now: bigint
        }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now`
        const reference = yield* credit(org_id, "10.00")
        const first = yield* takeTurn(org_id, worker)
        yield* credit(org_id, "10.00", { reference })
        yield* takeTurn(org_id, worker)
        const entries = yield* sql<{
          at: bigint
        }>`SELECT (extract(epoch FROM created_at) * 1000000)::bigint AS at FROM ledger WHERE org_id = ${org_id}`
        expect(entries).toHaveLength(1)
        expect(entries[0]?.at).toBeGreaterThanOrEqual(before?.now ?? 0n)
        expect(entries[0]?.at).toBeLessThanOrEqual(BigInt(first.at.getTime() + 1) * 1000n)
        // The same reference of another organization is another credit.
        const other = yield* (yield* Accounts).createOrganization("turns", null)
        yield* sql`INSERT INTO replies (command_id, reply) VALUES (${newId("cmd")}, '{}')`
        yield* credit(other, "1.00", { reference })
        yield* takeTurn(other, worker)
        expect(yield* sql`SELECT amount FROM ledger WHERE org_id = ${other}`).toEqual([{ amount: 1_000_000n }])
      })
    ))
})

test("calls of a provider are counted for its health in each span, also over several turns", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const org_id = yield* funded
      const called = { attempts: [{ provider: "counted", outcome: "succeeded", duration_ms: 7, detail: null }] }
      const of = { plan: { ...planOfOne, providers: ["counted"] } }
      for (const _ of [1, 2]) yield* ran(org_id, of, called)
      yield* ran(org_id, of, { attempts: [...called.attempts, ...called.attempts] })
      const counts = yield* sql`
        SELECT span, sum(count)::int AS count, bool_and(ok) AS ok FROM attempt_windows WHERE subject LIKE '%counted%' GROUP BY span ORDER BY span`
      expect(counts.length).toBeGreaterThan(1)
      expect(counts.map(({ count, ok }) => [count, ok])).toEqual(counts.map(() => [4, true]))
    })
  ))

describe("budgets", () => {
  const budgeted = Effect.fnUntraced(function* (
    org_id: string,
    amount: string,
    more: { period?: string; parent_id?: string } = {}
  ) {
    const sql = yield* SqlClient.SqlClient
    const { period = "day", parent_id = null } = more
    const budget_id = newId("bud")
    yield* sql`INSERT INTO key_budgets (budget_id, org_id, key_id, amount, period, parent_id) VALUES (${budget_id}, ${org_id}, ${`key_of_${budget_id}`}, ${dollars(amount)}, ${period}, ${parent_id})`
    return budget_id
  })
  const budgetOf = Effect.fnUntraced(function* (budget_id: string) {
    const sql = yield* SqlClient.SqlClient
    return (yield* sql`SELECT reserved, spent_day, spent_week, spent_month, spent_total, version::int AS version, counted_on::text AS counted_on FROM key_budgets WHERE budget_id = ${budget_id}`)[0]
  })
  const toldOf = Effect.fnUntraced(function* (budget_id: string) {
    const sql = yield* SqlClient.SqlClient
    return (yield* sql`SELECT reached, amount, period, starts_on::text AS starts_on FROM key_budget_alerts WHERE budget_id = ${budget_id}`)[0]
  })

  test("count what runs hold and charge, in their parents too, and in no other", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* funded
        const ofKey = yield* budgeted(org_id, "5.00")
        const ofBatch = yield* budgeted(org_id, "1.00", { period: "total", parent_id: ofKey })
        const other = yield* budgeted(org_id, "1.00")
        const [day] = yield* sql<{ today: string }>`SELECT (now() AT TIME ZONE 'UTC')::date::text AS today`
        const run_id = yield* admitted(org_id, { budget_id: ofBatch })
        yield* takeTurn(org_id, worker)
        const none = { spent_day: 0n, spent_week: 0n, spent_month: 0n, spent_total: 0n }
        const held = { ...none, reserved: 100_000n, version: 1, counted_on: day?.today }
        expect([yield* budgetOf(ofBatch), yield* budgetOf(ofKey)]).toEqual([held, held])
        yield* reported(org_id, run_id)
        yield* takeTurn(org_id, worker)
        const spent = { spent_day: 50_000n, spent_week: 50_000n, spent_month: 50_000n, spent_total: 50_000n }
        const charged = { ...held, ...spent, reserved: 0n, version: 2 }
        expect([yield* budgetOf(ofBatch), yield* budgetOf(ofKey)]).toEqual([charged, charged])
        expect(yield* budgetOf(other)).toMatchObject({ ...none, reserved: 0n, version: 0 })
      })
    ))

  test("that are nearly used up are told once for each part, and anew when the limit changes", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* funded
        const budget_id = yield* budgeted(org_id, "0.10", { period: "month" })
        yield* sql`INSERT INTO event_heads (org_id, ledger_seq) SELECT org_id, entry_seq FROM wallets WHERE org_id = ${org_id} ON CONFLICT DO NOTHING`
        const parts = Effect.map(
          sql<{
            percent: number
          }>`SELECT (data->>'percent')::int AS percent FROM event_inbox WHERE org_id = ${org_id} AND kind = 'budget.reached' ORDER BY 1`,
          (rows) => rows.map(({ percent }) => percent)
        )
        const of = { budget_id, hold: dollars("0.05"), quoted: dollars("0.05") }
        yield* ran(org_id, of)
        const [month] = yield* sql<{
          starts_on: string
        }>`SELECT date_trunc('month', now() AT TIME ZONE 'UTC')::date::text AS starts_on`
        expect(yield* toldOf(budget_id)).toEqual({
          reached: 50,
          amount: 100_000n,
          period: "month",
          starts_on: month?.starts_on
        })
        expect(yield* parts).toEqual([50])
        yield* ran(org_id, of, { charge: dollars("0.04") })
        expect(yield* toldOf(budget_id)).toMatchObject({ reached: 80 })
        expect(yield* parts).toEqual([50, 80])
        yield* sql`UPDATE key_budgets SET amount = 200000, period = 'total', version = version + 1 WHERE budget_id = ${budget_id}`
        yield* ran(org_id, of, { charge: dollars("0.02") })
        expect(yield* toldOf(budget_id)).toEqual({ reached: 50, amount: 200_000n, period: "total", starts_on: null })
      })
    ))

  test("that are used up refuse a run, and its organization hears of it even if nobody reads its events", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* funded
        yield* sql`INSERT INTO event_heads (org_id, ledger_seq) SELECT org_id, entry_seq FROM wallets WHERE org_id = ${org_id} ON CONFLICT DO NOTHING`
        const budget_id = yield* budgeted(org_id, "0.12")
        const inbox = Effect.map(
          sql<{ run_id: string }>`SELECT run_id FROM event_inbox WHERE org_id = ${org_id} AND run_id IS NOT NULL`,
          (rows) => rows.map(({ run_id }) => run_id)
        )
        const fits = yield* admitted(org_id, { budget_id })
        const free = yield* admitted(org_id, { hold: dollars("0") })
        const over = yield* admitted(org_id, { budget_id })
        yield* takeTurn(org_id, worker)
        expect(yield* runOf(over)).toMatchObject({
          status: "blocked",
          error_code: "budget_exceeded",
          control: "key_budget"
        })
        expect(yield* sql`SELECT run_id FROM open_runs WHERE org_id = ${org_id} ORDER BY 1`).toEqual(
          [fits, free].sort().map((run_id) => ({ run_id }))
        )
        // A free run, which has no entry of the ledger either, is told only to who listens.
        expect(yield* inbox).toEqual([over])
        yield* sql`UPDATE event_heads SET listened_at = now(), began_at = now() WHERE org_id = ${org_id}`
        const second = yield* admitted(org_id, { hold: dollars("0") })
        yield* takeTurn(org_id, worker)
        expect((yield* inbox).sort()).toEqual([over, second].sort())
      })
    ))
})

describe("reuse", () => {
  const asks = { mode: "prefer", max_age_seconds: 3600 } as const
  const reusing = (input_hash: string, more: Partial<NewRun> = {}): Partial<NewRun> => ({
    input_hash,
    plan: { ...planOfOne, reuse: asks },
    ...more
  })

  test("copies the result inside the organization, at no cost, and that of no other one", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [org_id, other] = [yield* funded, yield* funded]
        const bought = yield* admitted(org_id, reusing("same"))
        yield* takeTurn(org_id, worker)
        yield* reported(org_id, bought, {}, '{"email":"ada@example.com"}')
        yield* takeTurn(org_id, worker)
        const reused = yield* admitted(org_id, reusing("same"))
        yield* takeTurn(org_id, worker)
        expect(yield* runOf(reused)).toMatchObject({
          status: "succeeded",
          charged: 0n,
          reused_from: bought,
          result: { email: "ada@example.com" },
          attempts: []
        })
        const theirs = yield* admitted(other, reusing("same"))
        yield* takeTurn(other, worker)
        expect(yield* runOf(theirs)).toMatchObject({ finished_at: null, reused_from: null })
        expect(yield* sql`SELECT run_id FROM open_runs WHERE org_id = ${other}`).toEqual([{ run_id: theirs }])
      })
    ))

  test("lets others wait for the run that buys, and end with its result when it does", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* funded
        const buys = yield* admitted(org_id, reusing("shared"))
        const waits = yield* admitted(org_id, reusing("shared"))
        const plain = yield* admitted(org_id, { input_hash: "another" })
        yield* takeTurn(org_id, worker)
        expect(yield* sql`SELECT run_id FROM open_runs WHERE org_id = ${org_id} ORDER BY 1`).toEqual(
          [buys, plain].sort().map((run_id) => ({ run_id }))
        )
        // The end of a run that nobody can wait for changes nothing for the others.
        yield* reported(org_id, plain, {}, '{"other":true}')
        yield* takeTurn(org_id, worker)
        expect(yield* runOf(waits)).toMatchObject({ finished_at: null })
        expect(yield* sql`SELECT run_id FROM reuse_claims WHERE org_id = ${org_id}`).toEqual([{ run_id: buys }])
        expect(yield* sql`SELECT run_id FROM reusable_results WHERE org_id = ${org_id}`).toEqual([])
        yield* reported(org_id, buys, {}, '{"email":"ada@example.com"}')
        yield* takeTurn(org_id, worker)
        expect(yield* runOf(waits)).toMatchObject({
          status: "succeeded",
          charged: 0n,
          reused_from: buys,
          result: { email: "ada@example.com" }
        })
        expect(yield* sql`SELECT run_id FROM reuse_claims WHERE org_id = ${org_id}`).toEqual([])
        expect(yield* sql`SELECT run_id FROM reusable_results WHERE org_id = ${org_id}`).toEqual([{ run_id: buys }])
      })
    ))
})

test("a turn that has read a list of opt-outs before an entry was added admits nobody who is in it", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const optOuts = yield* OptOuts
      const email = "ada@opted-out.example"
      const contacts = { within_seconds: null, recipients: [{ shown: email, identities: [`e:${email}`] }] }
      const org_id = yield* funded
      const run_id = yield* admitted(org_id, { capability: "email.send", plan: { ...planOfOne, contacts } })
      const added = yield* Deferred.make<void>()
      const adding = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            const entry = { kind: "email", digest: optOutDigest(email), hint: null, reason: null } as const
            yield* optOuts.add(null, [entry], "complaint")
            yield* Deferred.succeed(added, undefined)
            yield* untilBlocking
          })
        )
      )
      yield* Deferred.await(added)
      expect(yield* Effect.flip(takeTurn(org_id, worker))).toMatchObject({ _tag: "TurnConflict" })
      yield* Fiber.join(adding)
      yield* takeTurn(org_id, worker)
      const ended = yield* sql`SELECT error_code FROM runs WHERE run_id = ${run_id}`
      yield* sql`DELETE FROM opt_outs`
      expect(ended).toEqual([{ error_code: "opt_out" }])
      expect(yield* sql`SELECT list FROM opt_out_refusals WHERE run_id = ${run_id}`).toEqual([{ list: "service" }])
    })
  ))
