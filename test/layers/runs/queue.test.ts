/** The queue of runs: which groups wait, which runs a worker claims from them, and what goes back into the queue. */
import { describe, expect, test } from "bun:test"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { Leases } from "../../../src/layers/runs/Leases.ts"
import { RunStore } from "../../../src/layers/runs/RunStore.ts"
import type { NewRun } from "../../../src/layers/runs/NewRuns.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { newRun, planOfOne } from "../../kit/new-runs.ts"
import { withStorage } from "../../kit/storage.ts"
import { credit, takeTurn } from "../../kit/turns.ts"

const run = withStorage()

const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("queue", null))
const registered = Effect.gen(function* () {
  const worker_id = newId("wrk")
  yield* (yield* Leases).register(worker_id, 600)
  return worker_id
})

/** Runs that a turn admitted and that no worker had room for, queued an hour ago and a second apart, the first one first. */
const queued = Effect.fnUntraced(function* (org_id: string, changes: ReadonlyArray<Partial<NewRun>>) {
  const [store, sql] = [yield* RunStore, yield* SqlClient.SqlClient]
  const runs = changes.map((changed) => newRun(org_id, changed))
  for (const one of runs) yield* store.admit(one)
  yield* takeTurn(org_id, "none", false)
  const ids = runs.map(({ run_id }) => run_id)
  for (const [at, run_id] of ids.entries())
    yield* sql`UPDATE open_runs SET since = date_trunc('hour', now()) - interval '1 hour' + make_interval(secs => ${at}) WHERE run_id = ${run_id}`
  return ids
})
const of = (provider: string): Partial<NewRun> => ({ provider, plan: { ...planOfOne, providers: [provider] } })
const paid = { hold: dollars("0.01"), quoted: dollars("0.01") }

const rowOf = Effect.fnUntraced(function* (run_id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`
    SELECT state, worker_id, lease_token, provider, since, attempts::text AS attempts, job::text AS job,
      since > now() - interval '1 minute' AS since_now FROM open_runs WHERE run_id = ${run_id}`
  return row ?? expect.unreachable(`${run_id} is not open`)
})
const sinceOf = (run_id: string) => Effect.map(rowOf(run_id), ({ since }) => new Date(String(since)).getTime())
const idsOf = (runs: ReadonlyArray<{ readonly run_id: string }>) => runs.map(({ run_id }) => run_id)

describe("the groups that wait", () => {
  test("are one for each organization, provider and kind of price, with the time of their oldest run", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        yield* credit(org_id, "5.00")
        const [first, second, , costly] = yield* queued(org_id, [{}, of("prospeo"), of("hunter"), paid])
        const groups = (yield* (yield* Leases).waiting("", 1_000)).filter((one) => one.org_id === org_id)
        expect(groups).toEqual([
          { org_id, provider: "hunter", free: false, since: yield* sinceOf(costly ?? "") },
          { org_id, provider: "hunter", free: true, since: yield* sinceOf(first ?? "") },
          { org_id, provider: "prospeo", free: true, since: yield* sinceOf(second ?? "") }
        ])
      })
    ))

  test("have no runs that are running", () =>
    run(
      Effect.gen(function* () {
        const [leases, store, sql] = [yield* Leases, yield* RunStore, yield* SqlClient.SqlClient]
        yield* sql`DELETE FROM open_runs`
        const orgs = [yield* organization, yield* organization].toSorted()
        for (const org_id of orgs) {
          yield* store.admit(newRun(org_id))
          yield* takeTurn(org_id)
        }
        expect(yield* leases.waiting("", 10)).toEqual([])
        yield* queued(orgs[0] ?? "", [of("prospeo")])
        expect(yield* leases.waiting("", 10)).toMatchObject([{ org_id: orgs[0], provider: "prospeo" }])
      })
    ))

  test("are read in pages in the order of the organizations", () =>
    run(
      Effect.gen(function* () {
        const [leases, sql] = [yield* Leases, yield* SqlClient.SqlClient]
        yield* sql`DELETE FROM open_runs`
        const orgs = [yield* organization, yield* organization, yield* organization].toSorted()
        for (const org_id of orgs) yield* queued(org_id, [{}])
        const page = (after: string, limit: number) =>
          Effect.map(leases.waiting(after, limit), (groups) => groups.map(({ org_id }) => org_id))
        expect(yield* page("", 1_000)).toEqual(orgs)
        expect(yield* page("", 2)).toEqual(orgs.slice(0, 2))
        expect(yield* page(orgs[0] ?? "", 2)).toEqual(orgs.slice(1, 3))
        expect(yield* page(orgs[2] ?? "", 10)).toEqual([])
      })
    ))
})

describe("a claim", () => {
  test("takes the oldest runs of each group, as many as it asks for, and no others", () =>
    run(
      Effect.gen(function* () {
        const leases = yield* Leases
        const [org_id, other, worker_id] = [yield* organization, yield* organization, yield* registered]
        yield* credit(org_id, "5.00")
        const [old, older, newest, elsewhere, costly] = yield* queued(org_id, [{}, {}, {}, of("prospeo"), paid])
        const [theirs] = yield* queued(other, [{}])
        const claimed = yield* leases.claim(worker_id, [{ org_id, provider: "hunter", free: true, runs: 2 }])
        expect(idsOf(claimed).toSorted()).toEqual([old ?? "", older ?? ""].toSorted())
        for (const run_id of [newest, elsewhere, costly, theirs])
          expect(yield* rowOf(run_id ?? "")).toMatchObject({ state: "queued", worker_id: null, lease_token: null })
        const rest = yield* leases.claim(worker_id, [
          { org_id, provider: "prospeo", free: true, runs: 5 },
          { org_id, provider: "hunter", free: false, runs: 5 },
          { org_id: other, provider: "hunter", free: true, runs: 5 }
        ])
        expect(idsOf(rest).toSorted()).toEqual([elsewhere ?? "", costly ?? "", theirs ?? ""].toSorted())
        expect(yield* leases.claim(worker_id, [{ org_id, provider: "prospeo", free: true, runs: 5 }])).toEqual([])
      })
    ))

  test("gives the worker each run with what it needs to execute it, under a lease of its own", () =>
    run(
      Effect.gen(function* () {
        const [leases, sql] = [yield* Leases, yield* SqlClient.SqlClient]
        const [org_id, worker_id] = [yield* organization, yield* registered]
        const [, second] = yield* queued(org_id, [{}, { ...of("prospeo"), input: '{"domain":"example.com"}' }])
        const job = { state: { ticket: "1" }, resumed: 1 }
        const attempts = [{ provider: "hunter", outcome: "rate_limited", duration_ms: 3, detail: null }]
        yield* sql`
          UPDATE open_runs SET attempts = ${JSON.stringify(attempts)}::text::json, job = ${JSON.stringify(job)}::text::json WHERE run_id = ${second}`
        const groups = [
          { org_id, provider: "hunter", free: true, runs: 1 },
          { org_id, provider: "prospeo", free: true, runs: 1 }
        ]
        const claimed = yield* leases.claim(worker_id, groups)
        expect(claimed.find(({ run_id }) => run_id === second)).toMatchObject({
          ...{ org_id, capability: "email.find", endpoint: null, key_id: null, input_hash: "hash", hold: 0n },
          ...{ asks: "prospeo", free: true, input: '{"domain":"example.com"}', attempts, job },
          plan: { providers: ["prospeo"] }
        })
        expect(new Set(claimed.map(({ lease_token }) => lease_token)).size).toBe(2)
        for (const { run_id, lease_token } of claimed)
          expect(yield* rowOf(run_id)).toMatchObject({ state: "running", worker_id, lease_token, since_now: true })
      })
    ))

  test("leaves out the runs that another process is claiming, and does not wait for it", () =>
    run(
      Effect.gen(function* () {
        const [leases, sql] = [yield* Leases, yield* SqlClient.SqlClient]
        const [org_id, worker_id] = [yield* organization, yield* registered]
        const [first, second] = yield* queued(org_id, [{}, {}])
        const [locked, claimed] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const rival = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`SELECT 1 AS one FROM open_runs WHERE run_id = ${first} FOR UPDATE`
              yield* Deferred.succeed(locked, undefined)
              yield* Deferred.await(claimed)
            })
          )
        )
        yield* Deferred.await(locked)
        const runs = yield* leases.claim(worker_id, [{ org_id, provider: "hunter", free: true, runs: 2 }])
        yield* Deferred.succeed(claimed, undefined)
        yield* Fiber.join(rival)
        expect(idsOf(runs)).toEqual([second ?? ""])
      })
    ))

  test("goes on without a run whose stored plan can't be read", () =>
    run(
      Effect.gen(function* () {
        const [leases, sql] = [yield* Leases, yield* SqlClient.SqlClient]
        const [org_id, worker_id] = [yield* organization, yield* registered]
        const [broken, whole] = yield* queued(org_id, [{}, {}])
        yield* sql`UPDATE runs SET plan = '{}' WHERE org_id = ${org_id} AND run_id = ${broken}`
        const runs = yield* leases.claim(worker_id, [{ org_id, provider: "hunter", free: true, runs: 2 }])
        expect(idsOf(runs)).toEqual([whole ?? ""])
      })
    ))
})

describe("a run that goes back into the queue", () => {
  const attempts = [{ provider: "hunter", outcome: "rate_limited", duration_ms: 3, detail: null }]
  const job = { state: { ticket: "1" }, resumed: 0 }
  const claimedRun = Effect.gen(function* () {
    const [leases, sql] = [yield* Leases, yield* SqlClient.SqlClient]
    const [org_id, worker_id] = [yield* organization, yield* registered]
    yield* queued(org_id, [{}])
    const [claimed] = yield* leases.claim(worker_id, [{ org_id, provider: "hunter", free: true, runs: 1 }])
    if (claimed === undefined) return expect.unreachable("the run was not claimed")
    yield* sql`UPDATE open_runs SET since = now() - interval '1 hour' WHERE run_id = ${claimed.run_id}`
    return claimed
  })

  test("waits for the provider that is called next, and loses its lease", () =>
    run(
      Effect.gen(function* () {
        const leases = yield* Leases
        const { org_id, run_id, lease_token } = yield* claimedRun
        yield* leases.requeue({ run_id, lease_token, asks: "prospeo" }, JSON.stringify(attempts), job)
        const { attempts: tried, job: kept, ...row } = yield* rowOf(run_id)
        expect(row).toMatchObject({ state: "queued", worker_id: null, lease_token: null, provider: "prospeo" })
        expect([JSON.parse(String(tried)), JSON.parse(String(kept))]).toEqual([attempts, job])
        // It is as new in the queue as any run that arrives now.
        expect(row).toMatchObject({ since_now: true })
        expect(yield* leases.attempt(run_id, lease_token, "[]")).toBe(false)
        const again = yield* leases.claim(yield* registered, [{ org_id, provider: "prospeo", free: true, runs: 1 }])
        expect(again).toMatchObject([{ run_id, attempts, job }])
        expect(again[0]?.lease_token).not.toBe(lease_token)
      })
    ))

  test("waits for the same provider if no other is named, without a job if there is none", () =>
    run(
      Effect.gen(function* () {
        const leases = yield* Leases
        const { run_id, lease_token } = yield* claimedRun
        yield* leases.keepJob(run_id, lease_token, job)
        yield* leases.requeue({ run_id, lease_token }, "[]", null)
        expect(yield* rowOf(run_id)).toMatchObject({ state: "queued", provider: "hunter", attempts: "[]", job: null })
      })
    ))
})

test("whether any run waits says nothing of those that run", () =>
  run(
    Effect.gen(function* () {
      const [leases, sql] = [yield* Leases, yield* SqlClient.SqlClient]
      yield* sql`DELETE FROM open_runs`
      expect(yield* leases.anyQueued).toBe(false)
      const [org_id, worker_id] = [yield* organization, yield* registered]
      yield* queued(org_id, [{}])
      expect(yield* leases.anyQueued).toBe(true)
      yield* leases.claim(worker_id, [{ org_id, provider: "hunter", free: true, runs: 1 }])
      expect(yield* leases.anyQueued).toBe(false)
    })
  ))
