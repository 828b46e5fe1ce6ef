/** Which runs a worker takes over from dead workers and from itself, and how the counts of open runs are corrected. */
import { beforeEach, describe, expect, test } from "bun:test"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { Leases } from "../../../src/layers/runs/Leases.ts"
import { RunStore } from "../../../src/layers/runs/RunStore.ts"
import { newRun, planOfOne } from "../../kit/new-runs.ts"
import { untilBlocking, withStorage } from "../../kit/storage.ts"
import { report, takeTurn } from "../../kit/turns.ts"

const run = withStorage()
beforeEach(() => run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM open_runs`)))

const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("take-over", null))
const registered = Effect.gen(function* () {
  const worker_id = newId("wrk")
  yield* (yield* Leases).register(worker_id, 600)
  return worker_id
})

/** Runs of a new organization, leased to the worker; without room they are queued. */
const admitted = Effect.fnUntraced(function* (worker_id: string, count = 1, hasRoom = true) {
  const [org_id, store] = [yield* organization, yield* RunStore]
  for (let n = 0; n < count; n++) yield* store.admit(newRun(org_id))
  return yield* takeTurn(org_id, worker_id, hasRoom)
})
const started = Effect.fnUntraced(function* (worker_id: string) {
  const turn = yield* admitted(worker_id)
  return turn.started[0] ?? expect.unreachable("the run was not started")
})

const rowOf = Effect.fnUntraced(function* (run_id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`
    SELECT state, worker_id, lease_token, since > now() - interval '1 minute' AS since_now FROM open_runs WHERE run_id = ${run_id}`
  return row
})
const age = Effect.fnUntraced(function* (run_id: string, seconds: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE open_runs SET since = now() - make_interval(secs => ${seconds}) WHERE run_id = ${run_id}`
})
/** The worker's row is gone, as an hour after its death. */
const forgotten = (worker_id: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM workers WHERE worker_id = ${worker_id}`)
const idsOf = (runs: ReadonlyArray<{ readonly run_id: string }>) => runs.map(({ run_id }) => run_id)

describe("a run of a dead worker", () => {
  test("is taken over under a new lease, with what its execution needs", () =>
    run(
      Effect.gen(function* () {
        const leases = yield* Leases
        const [dead, alive] = [yield* registered, yield* registered]
        const { org_id, run_id, lease_token } = yield* started(dead)
        yield* age(run_id, 3_600)
        yield* leases.retire(dead)
        const lost = yield* leases.takeOver(alive, [], 10)
        expect(lost).toMatchObject([
          {
            ...{ org_id, run_id, capability: "email.find", endpoint: null, key_id: null, input_hash: "hash" },
            ...{ hold: 0n, input: "{}", side_effect: false, dead_letters: 0, sends_run_id: true },
            ...{ plan: planOfOne, attempts: [{ provider: "hunter", outcome: "started" }], job: null }
          }
        ])
        expect(lost[0]?.lease_token).not.toBe(lease_token)
        expect(yield* rowOf(run_id)).toEqual({
          ...{ state: "running", worker_id: alive, lease_token: lost[0]?.lease_token, since_now: true }
        })
      })
    ))

  test("has sent its id with provider calls only if its worker says so", () =>
    run(
      Effect.gen(function* () {
        const [leases, sql] = [yield* Leases, yield* SqlClient.SqlClient]
        const [old, gone, alive] = [yield* registered, yield* registered, yield* registered]
        yield* sql`UPDATE workers SET sends_run_id = false WHERE worker_id = ${old}`
        yield* started(old)
        yield* started(gone)
        yield* leases.retire(old)
        yield* forgotten(gone)
        const lost = yield* leases.takeOver(alive, [], 10)
        expect(lost.map(({ sends_run_id }) => sends_run_id)).toEqual([false, false])
      })
    ))

  test("is taken over once its worker's lease has ended, not before", () =>
    run(
      Effect.gen(function* () {
        const leases = yield* Leases
        const [first, second] = [yield* registered, yield* registered]
        const { run_id } = yield* started(first)
        yield* age(run_id, 3_600)
        expect(yield* leases.takeOver(second, [], 10)).toEqual([])
        yield* leases.retire(first)
        expect(idsOf(yield* leases.takeOver(second, [], 10))).toEqual([run_id])
        expect(yield* leases.takeOver(second, [], 10)).toEqual([])
      })
    ))

  test("is left in the queue if it waits there", () =>
    run(
      Effect.gen(function* () {
        yield* admitted(yield* registered, 2, false)
        expect(yield* (yield* Leases).takeOver(yield* registered, [], 10)).toEqual([])
      })
    ))

  test("is left to others beyond the limit", () =>
    run(
      Effect.gen(function* () {
        const leases = yield* Leases
        const [dead, alive, other] = [yield* registered, yield* registered, yield* registered]
        const all = idsOf((yield* admitted(dead, 3)).started)
        yield* leases.retire(dead)
        const first = idsOf(yield* leases.takeOver(alive, [], 2))
        const rest = idsOf(yield* leases.takeOver(other, [], 2))
        expect([first.length, rest.length]).toEqual([2, 1])
        expect([...first, ...rest].toSorted()).toEqual(all.toSorted())
      })
    ))

  test("is never taken over after its end was enqueued, and again once that report is dead-lettered", () =>
    run(
      Effect.gen(function* () {
        const [leases, sql] = [yield* Leases, yield* SqlClient.SqlClient]
        const [dead, alive] = [yield* registered, yield* registered]
        const ended = yield* started(dead)
        const other = yield* started(dead)
        yield* report(ended)
        // Another command of a run, and one that is dead-lettered, are no reports of its end.
        yield* sql`
          INSERT INTO mailbox (lane, org_id, run_id, tag, parked)
          SELECT lane, org_id, ${other.run_id}, 'Cancel', parked FROM wallets, (VALUES (NULL), ('it failed')) AS p (parked)
          WHERE org_id = ${other.org_id}`
        yield* leases.retire(dead)
        const lost = yield* leases.takeOver(alive, [], 10)
        expect(lost.map(({ run_id, dead_letters }) => [run_id, dead_letters])).toEqual([[other.run_id, 0]])
        yield* sql`UPDATE mailbox SET parked = 'it failed' WHERE run_id = ${ended.run_id}`
        const again = yield* leases.takeOver(alive, [], 10)
        expect(again.map(({ run_id, dead_letters }) => [run_id, dead_letters])).toEqual([[ended.run_id, 1]])
        yield* sql`DELETE FROM mailbox`
      })
    ))
})

describe("a worker's own run", () => {
  test("that it does not execute is taken over after five seconds, without waiting for the end of its lease", () =>
    run(
      Effect.gen(function* () {
        const [leases, sql] = [yield* Leases, yield* SqlClient.SqlClient]
        const worker_id = yield* registered
        const [young, executed, lost] = [
          yield* started(worker_id),
          yield* started(worker_id),
          yield* started(worker_id)
        ]
        // In one transaction the database's time stands still.
        const taken = yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* age(young.run_id, 4)
            for (const { run_id } of [executed, lost]) yield* age(run_id, 6)
            return yield* leases.takeOver(worker_id, [executed.run_id], 10)
          })
        )
        expect(idsOf(taken)).toEqual([lost.run_id])
        for (const { run_id, lease_token } of [young, executed])
          expect(yield* rowOf(run_id)).toMatchObject({ worker_id, lease_token })
      })
    ))
})

describe("the count of an organization's open runs", () => {
  const countOf = Effect.fnUntraced(function* (org_id: string) {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ open_runs: bigint; version: bigint }>`
      SELECT open_runs, version FROM wallets WHERE org_id = ${org_id}`
    return row ?? expect.unreachable("the organization has no wallet")
  })
  const opened = Effect.fnUntraced(function* (count: number) {
    const [run] = (yield* admitted(yield* registered, count)).started
    return run?.org_id ?? expect.unreachable("no run was started")
  })
  const miscount = (org_id: string, open_runs: number) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`UPDATE wallets SET open_runs = ${open_runs} WHERE org_id = ${org_id}`
    )

  test.each([
    ["too few", 2, 1],
    ["none", 2, 0],
    ["too many", 1, 7],
    ["some, where no run is open", 0, 3]
  ] as const)("is corrected when it says %s, and the wallet gets another version", (_name, runs, wrong) =>
    run(
      Effect.gen(function* () {
        const org_id = runs === 0 ? yield* organization : yield* opened(runs)
        yield* miscount(org_id, wrong)
        const { version } = yield* countOf(org_id)
        yield* (yield* Leases).recount
        // A turn that has read the wallet before is rolled back by the new version.
        expect(yield* countOf(org_id)).toEqual({ open_runs: BigInt(runs), version: version + 1n })
      })
    )
  )

  test("that is right stays as it is, and so does the wallet's version", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other, idle] = [yield* opened(2), yield* opened(1), yield* organization]
        yield* miscount(other, 3)
        const before = [yield* countOf(org_id), yield* countOf(idle)]
        yield* (yield* Leases).recount
        expect([yield* countOf(org_id), yield* countOf(idle)]).toEqual(before)
        expect((yield* countOf(other)).open_runs).toBe(1n)
      })
    ))

  test("is not overwritten when a turn changes it during the correction", () =>
    run(
      Effect.gen(function* () {
        const [leases, sql] = [yield* Leases, yield* SqlClient.SqlClient]
        const org_id = yield* opened(1)
        yield* miscount(org_id, 5)
        const written = yield* Deferred.make<void>()
        // What a turn writes that admits a run after the correction has counted them.
        const turn = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`
                INSERT INTO open_runs (run_id, org_id, hold, state, side_effect) VALUES (${newId("run")}, ${org_id}, 0, 'queued', false)`
              yield* sql`UPDATE wallets SET open_runs = 2, version = version + 1 WHERE org_id = ${org_id}`
              yield* Deferred.succeed(written, undefined)
              yield* untilBlocking
            })
          )
        )
        yield* Deferred.await(written)
        const { version } = yield* countOf(org_id)
        const correction = yield* Effect.forkChild(leases.recount)
        yield* Fiber.join(turn)
        yield* Fiber.join(correction)
        expect(yield* countOf(org_id)).toEqual({ open_runs: 2n, version: version + 1n })
      })
    ))
})
