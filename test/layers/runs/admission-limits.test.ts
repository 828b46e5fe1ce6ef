/** Admission of runs that repeat a request, of keys with a limit of cost, and of organizations with as many runs as they may have. */
import { describe, expect, test } from "bun:test"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { RunStore } from "../../../src/layers/runs/RunStore.ts"
import type { NewRun } from "../../../src/layers/runs/NewRuns.ts"
import { makeId } from "../../../src/schema/Ids.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { newRun } from "../../kit/new-runs.ts"
import { untilBlocking, withStorage } from "../../kit/storage.ts"
import { takeTurn } from "../../kit/turns.ts"

/** Open runs that an organization may have. */
const most = 2
const run = withStorage({ RUNGATE_ORG_QUEUE: String(most) })

const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("admission", null))
const keyOf = Effect.fnUntraced(function* (org_id: string) {
  return (yield* (yield* Accounts).createKey(org_id, "key", "test")).id
})
const versionOf = Effect.fnUntraced(function* (key_id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ version: bigint }>`SELECT version FROM api_keys WHERE key_id = ${key_id}`
  return row?.version ?? expect.unreachable("the key does not exist")
})
/** What is stored: runs, commands and Idempotency-Keys. */
const stored = Effect.fnUntraced(function* (org_id: string) {
  const sql = yield* SqlClient.SqlClient
  const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id).toSorted()
  return {
    runs: ids(yield* sql<{ id: string }>`SELECT run_id AS id FROM runs WHERE org_id = ${org_id}`),
    commands: ids(yield* sql<{ id: string }>`SELECT run_id AS id FROM mailbox WHERE org_id = ${org_id}`),
    keys: ids(yield* sql<{ id: string }>`SELECT idempotency_key AS id FROM idempotency_keys WHERE org_id = ${org_id}`)
  }
})
const keyed = (org_id: string, changed: Partial<NewRun> = {}) =>
  newRun(org_id, { idempotency_key: "order-1", fingerprint: "request", ...changed })

describe("a repeated Idempotency-Key", () => {
  test("names the run that holds it, with the request that started that one, and stores nothing", () =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* RunStore, yield* organization]
        const [first, other] = [keyed(org_id), newRun(org_id, { fingerprint: "another request" })]
        expect(yield* store.admit(first)).toMatchObject({ _tag: "Admitted" })
        yield* store.admit(other)
        for (const fingerprint of ["request", "another request"])
          expect(yield* store.admit(keyed(org_id, { fingerprint }))).toMatchObject({
            ...{ _tag: "Existing", run_id: first.run_id, fingerprint: "request" }
          })
        expect(yield* store.begun({ ...first, fingerprint: "another request" })).toBeNull()
        const ids = [first.run_id, other.run_id].toSorted()
        expect(yield* stored(org_id)).toEqual({ runs: ids, commands: ids, keys: ["order-1"] })
      })
    ))

  test("starts a run in another organization", () =>
    run(
      Effect.gen(function* () {
        const store = yield* RunStore
        yield* store.admit(keyed(yield* organization))
        expect(yield* store.admit(keyed(yield* organization))).toMatchObject({ _tag: "Admitted" })
      })
    ))

  test("names the run of another process that committed the key at the same time", () =>
    run(
      Effect.gen(function* () {
        const [store, sql, org_id] = [yield* RunStore, yield* SqlClient.SqlClient, yield* organization]
        const [theirs, ours] = [keyed(org_id), keyed(org_id)]
        yield* store.admit(keyed(org_id, { idempotency_key: "order-0" }))
        const claimed = yield* Deferred.make<void>()
        const rival = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`
                INSERT INTO idempotency_keys (org_id, idempotency_key, run_id) VALUES (${org_id}, 'order-1', ${theirs.run_id})`
              yield* sql`
                INSERT INTO runs_recent (org_id, run_id, request_id, idempotency_key, key_claimed, fingerprint, kind, capability, hold, quoted,
                                         input, plan, routing_reason)
                VALUES (${org_id}, ${theirs.run_id}, 'req', 'order-1', true, 'request', 'capability', 'email.find', 0, 0, '{}', '{}', '')`
              yield* Deferred.succeed(claimed, undefined)
              yield* untilBlocking
            })
          )
        )
        yield* Deferred.await(claimed)
        const admission = yield* Effect.forkChild(store.admit(ours))
        yield* Fiber.join(rival)
        expect(yield* Fiber.join(admission)).toMatchObject({ _tag: "Existing", run_id: theirs.run_id })
        expect((yield* stored(org_id)).keys).toEqual(["order-0", "order-1"])
        expect((yield* stored(org_id)).runs).not.toContain(ours.run_id)
      })
    ))
})

test.each([null, "order-1"])(
  "a run whose admission is repeated because its answer was lost is admitted once, with the key %p",
  (idempotency_key) =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* RunStore, yield* organization]
        const one = newRun(org_id, { idempotency_key })
        const first = yield* store.admit(one)
        const second = yield* store.admit(one)
        expect([first, second]).toMatchObject([{ _tag: "Admitted" }, { _tag: "Admitted" }])
        expect(second).toEqual(first)
        expect((yield* stored(org_id)).commands).toEqual([one.run_id])
      })
    )
)

describe("an organization", () => {
  test("has no more open runs than it may have, and a refused run leaves nothing, its Idempotency-Key included", () =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* RunStore, yield* organization]
        const first = newRun(org_id)
        yield* store.admit(first)
        yield* takeTurn(org_id)
        const second = newRun(org_id)
        expect(yield* store.admit(second)).toMatchObject({ _tag: "Admitted" })
        expect(yield* store.admit(keyed(org_id))).toEqual({ _tag: "Full", most })
        const ids = [first.run_id, second.run_id].toSorted()
        expect(yield* stored(org_id)).toEqual({ runs: ids, commands: [second.run_id], keys: [] })
        // Another one has room of its own.
        expect(yield* store.admit(keyed(yield* organization))).toMatchObject({ _tag: "Admitted" })
      })
    ))

  test("is told of the run that holds a repeated Idempotency-Key even if it is full", () =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* RunStore, yield* organization]
        const first = keyed(org_id)
        for (const one of [first, newRun(org_id)]) yield* store.admit(one)
        expect(yield* store.admit(keyed(org_id))).toMatchObject({ _tag: "Existing", run_id: first.run_id })
      })
    ))

  test("fills its room with the oldest of runs that arrive together", () =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* RunStore, yield* organization]
        const all = [1, 2, 3, 4].map((n) => newRun(org_id, { run_id: makeId("run", Date.now() + n) }))
        // The first one is on its way while the others become one batch.
        const tags = yield* Effect.forEach([newRun(yield* organization), ...all], (one) => store.admit(one), {
          concurrency: "unbounded"
        })
        expect(tags.map(({ _tag }) => _tag).filter((tag) => tag === "Admitted")).toHaveLength(3)
        const oldest = all.map(({ run_id }) => run_id).toSorted()
        expect((yield* stored(org_id)).runs).toEqual(oldest.slice(0, most))
      })
    ))
})

describe("an API key", () => {
  test("with a limit of cost admits a run that holds exactly as much, and none that holds more", () =>
    run(
      Effect.gen(function* () {
        const [store, sql, org_id] = [yield* RunStore, yield* SqlClient.SqlClient, yield* organization]
        const key_id = yield* keyOf(org_id)
        yield* sql`UPDATE api_keys SET max_cost = ${dollars("0.02")} WHERE key_id = ${key_id}`
        const key = { key_id, key_version: yield* versionOf(key_id) }
        const held = (amount: string, changed: Partial<NewRun> = {}) =>
          newRun(org_id, { ...key, hold: dollars(amount), quoted: dollars(amount), ...changed })
        expect(yield* store.admit(held("0.020001", { idempotency_key: "order-1" }))).toEqual({ _tag: "KeyChanged" })
        expect(yield* stored(org_id)).toEqual({ runs: [], commands: [], keys: [] })
        expect(yield* store.admit(held("0.02", { idempotency_key: "order-1" }))).toMatchObject({ _tag: "Admitted" })
      })
    ))

  test("that was changed since the request was checked starts no run and uses up no Idempotency-Key", () =>
    run(
      Effect.gen(function* () {
        const [store, sql, org_id] = [yield* RunStore, yield* SqlClient.SqlClient, yield* organization]
        const key_id = yield* keyOf(org_id)
        const before = yield* versionOf(key_id)
        yield* sql`UPDATE api_keys SET max_cost = ${dollars("5")} WHERE key_id = ${key_id}`
        for (const key_version of [before, null])
          for (const idempotency_key of ["order-1", null])
            expect(yield* store.admit(keyed(org_id, { key_id, key_version, idempotency_key }))).toEqual({
              _tag: "KeyChanged"
            })
        expect(yield* stored(org_id)).toEqual({ runs: [], commands: [], keys: [] })
        const key_version = yield* versionOf(key_id)
        expect(yield* store.admit(keyed(org_id, { key_id, key_version }))).toMatchObject({ _tag: "Admitted" })
      })
    ))

  test("of another organization starts no run", () =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* RunStore, yield* organization]
        const key_id = yield* keyOf(yield* organization)
        const key_version = yield* versionOf(key_id)
        expect(yield* store.admit(newRun(org_id, { key_id, key_version }))).toEqual({ _tag: "Revoked" })
      })
    ))

  test("that ends in the future starts a run and finds it by its Idempotency-Key, which an ended key does not", () =>
    run(
      Effect.gen(function* () {
        const [store, sql, org_id] = [yield* RunStore, yield* SqlClient.SqlClient, yield* organization]
        const [key_id, ended] = [yield* keyOf(org_id), yield* keyOf(org_id)]
        yield* sql`UPDATE api_keys SET expires_at = now() + interval '1 hour' WHERE key_id = ${key_id}`
        yield* (yield* Accounts).revokeKey(org_id, ended)
        const one = keyed(org_id, { key_id, key_version: yield* versionOf(key_id) })
        expect(yield* store.admit(one)).toMatchObject({ _tag: "Admitted" })
        expect(yield* store.begun(one)).toBe(one.run_id)
        // The other keys of the organization are live, and its own is not.
        expect(yield* store.begun({ ...one, key_id: ended })).toBeNull()
        expect(yield* store.begun({ ...one, key_id: newId("key") })).toBeNull()
        // A key of another organization does not count.
        const stranger = yield* keyOf(yield* organization)
        expect(yield* store.begun({ ...one, key_id: stranger })).toBeNull()
        expect(yield* store.begun({ ...one, idempotency_key: null })).toBeNull()
      })
    ))
})
