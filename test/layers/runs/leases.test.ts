/**
 * What a lease guarantees: a worker that lost it changes nothing, a late worker stays dead, and the job of one provider never reaches
 * another one.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { Leases } from "../../../src/layers/runs/Leases.ts"
import { RunStore } from "../../../src/layers/runs/RunStore.ts"
import { newRun } from "../../kit/new-runs.ts"
import { startStorage, type StorageRuntime } from "../../kit/storage.ts"
import { takeTurn } from "../../kit/turns.ts"

let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage()
})
afterAll(() => runtime.dispose())

const leaseSeconds = 600
const registered = Effect.gen(function* () {
  const worker_id = newId("wrk")
  yield* (yield* Leases).register(worker_id, leaseSeconds)
  return worker_id
})

/** A run that a turn of the worker admitted and leased to it. */
const started = Effect.fnUntraced(function* (worker_id: string) {
  const org_id = yield* (yield* Accounts).createOrganization("leases", null)
  const { run_id, ...rest } = newRun(org_id)
  yield* (yield* RunStore).admit({ run_id, ...rest })
  const turn = yield* takeTurn(org_id, worker_id)
  const run = turn.started.find((one) => one.run_id === run_id)
  return run ?? expect.unreachable("the run was not started")
})

/** What is stored of an open run. */
const stored = Effect.fnUntraced(function* (run_id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`
    SELECT state, worker_id, lease_token, provider, since, attempts::text AS attempts, job::text AS job FROM open_runs WHERE run_id = ${run_id}`
  return row
})

const attempt = (provider: string, outcome: string) => ({ provider, outcome, duration_ms: 0, detail: null })
const job = { state: { ticket: "of hunter" }, resumed: 0 }

describe("the job of an attempt", () => {
  test("reaches the worker that takes the run over", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const leases = yield* Leases
        const [first, second] = [yield* registered, yield* registered]
        const { run_id, lease_token } = yield* started(first)
        expect(yield* leases.keepJob(run_id, lease_token, job)).toBe(true)
        yield* leases.retire(first)
        const [taken] = yield* leases.takeOver(second, [], 10)
        expect(taken).toMatchObject({ run_id, job, attempts: [{ provider: "hunter", outcome: "started" }] })
      })
    ))

  test("reaches no attempt at another provider", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const leases = yield* Leases
        const [first, second] = [yield* registered, yield* registered]
        const { run_id, lease_token } = yield* started(first)
        expect(yield* leases.keepJob(run_id, lease_token, job)).toBe(true)
        const attempts = [attempt("hunter", "provider_error"), attempt("prospeo", "started")]
        expect(yield* leases.attempt(run_id, lease_token, JSON.stringify(attempts))).toBe(true)
        yield* leases.retire(first)
        const [taken] = yield* leases.takeOver(second, [], 10)
        expect(taken).toMatchObject({ run_id, job: null, attempts })
      })
    ))
})

describe("a worker whose run was taken over", () => {
  const writes = {
    attempt: Effect.fnUntraced(function* (run_id: string, lease_token: string) {
      const attempts = JSON.stringify([attempt("prospeo", "started")])
      expect(yield* (yield* Leases).attempt(run_id, lease_token, attempts)).toBe(false)
    }),
    keepJob: Effect.fnUntraced(function* (run_id: string, lease_token: string) {
      expect(yield* (yield* Leases).keepJob(run_id, lease_token, job)).toBe(false)
    }),
    requeue: Effect.fnUntraced(function* (run_id: string, lease_token: string) {
      yield* (yield* Leases).requeue({ run_id, lease_token, asks: "prospeo" }, "[]", job)
    })
  }

  test.each(["attempt", "keepJob", "requeue"] as const)("changes nothing with %s", (name) =>
    runtime.runPromise(
      Effect.gen(function* () {
        const leases = yield* Leases
        const [late, current] = [yield* registered, yield* registered]
        const { run_id, lease_token } = yield* started(late)
        yield* leases.retire(late)
        const [taken] = yield* leases.takeOver(current, [], 10)
        expect(taken?.run_id).toBe(run_id)
        const before = yield* stored(run_id)
        expect(before).toMatchObject({ state: "running", worker_id: current, lease_token: taken?.lease_token })
        yield* writes[name](run_id, lease_token)
        expect(yield* stored(run_id)).toEqual(before)
      })
    )
  )
})

describe("a worker", () => {
  test("that renews in time keeps its runs", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const leases = yield* Leases
        const [worker, other] = [yield* registered, yield* registered]
        const { run_id } = yield* started(worker)
        expect(yield* leases.renew(worker, leaseSeconds)).toBeGreaterThan(0)
        expect(yield* leases.takeOver(other, [], 10)).toEqual([])
        expect(yield* stored(run_id)).toMatchObject({ worker_id: worker })
      })
    ))

  test("whose lease has ended can't renew it, so others take over its runs", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const leases = yield* Leases
        const [late, other] = [yield* registered, yield* registered]
        const { run_id } = yield* started(late)
        yield* leases.retire(late)
        expect(yield* leases.renew(late, leaseSeconds)).toBe(0)
        expect((yield* leases.takeOver(other, [], 10)).map((run) => run.run_id)).toEqual([run_id])
      })
    ))

  test("that nobody registered can't renew", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        expect(yield* (yield* Leases).renew(newId("wrk"), leaseSeconds)).toBe(0)
      })
    ))
})
