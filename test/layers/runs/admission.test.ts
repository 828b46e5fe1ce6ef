/** Admission through the mailbox: no ended API key starts a run or finds one, and an Idempotency-Key finds a run only for the same request. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { RunStore } from "../../../src/layers/runs/RunStore.ts"
import { newRun } from "../../kit/new-runs.ts"
import { startStorage, type StorageRuntime } from "../../kit/storage.ts"

let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage()
})
afterAll(() => runtime.dispose())

/** An organization with a key. */
const organization = Effect.gen(function* () {
  const accounts = yield* Accounts
  const org_id = yield* accounts.createOrganization("admission", null)
  const { id: key_id } = yield* accounts.createKey(org_id, "key", "test")
  return { org_id, key_id }
})
type Key = Effect.Success<typeof organization>

/** A run whose request was checked against the newest rules of the key, so that only the key's end can refuse it. */
const runOf = Effect.fnUntraced(function* ({ org_id, key_id }: Key) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ version: bigint }>`SELECT version FROM api_keys WHERE key_id = ${key_id}`
  return newRun(org_id, { key_id, key_version: row?.version ?? null })
})

const expire = ({ key_id }: Key) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE key_id = ${key_id}`
  )
const revoke = ({ org_id, key_id }: Key) => Effect.flatMap(Accounts, (accounts) => accounts.revokeKey(org_id, key_id))
const ends = { expired: expire, revoked: revoke }
const names = ["expired", "revoked"] as const

const storedRuns = ({ org_id }: Key) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql<{ run_id: string }>`SELECT run_id FROM runs WHERE org_id = ${org_id} ORDER BY run_id`, (rows) =>
      rows.map(({ run_id }) => run_id)
    )
  )

describe("an API key", () => {
  test.each(names)("that is %s starts no run", (name) =>
    runtime.runPromise(
      Effect.gen(function* () {
        const store = yield* RunStore
        const key = yield* organization
        const run = yield* runOf(key)
        expect(yield* store.admit(run)).toMatchObject({ _tag: "Admitted" })
        yield* ends[name](key)
        expect(yield* store.admit(yield* runOf(key))).toEqual({ _tag: "Revoked" })
        expect(yield* storedRuns(key)).toEqual([run.run_id])
      })
    )
  )

  test.each(names)("that is %s finds no run by its Idempotency-Key", (name) =>
    runtime.runPromise(
      Effect.gen(function* () {
        const store = yield* RunStore
        const key = yield* organization
        const run = { ...(yield* runOf(key)), idempotency_key: "order-1", fingerprint: "request" }
        yield* store.admit(run)
        expect(yield* store.begun(run)).toBe(run.run_id)
        yield* ends[name](key)
        expect(yield* store.begun(run)).toBeNull()
        // A session is checked when its request arrives.
        expect(yield* store.begun({ ...run, key_id: null })).toBe(run.run_id)
      })
    )
  )
})

test("an Idempotency-Key finds its run for the same request only, and only in its organization", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const store = yield* RunStore
      const [key, other] = [yield* organization, yield* organization]
      const run = newRun(key.org_id, { idempotency_key: "order-1", fingerprint: "request" })
      yield* store.admit(run)
      expect(yield* store.begun(run)).toBe(run.run_id)
      expect(yield* store.begun({ ...run, fingerprint: "another request" })).toBeNull()
      expect(yield* store.begun({ ...run, idempotency_key: "order-2" })).toBeNull()
      expect(yield* store.begun({ ...run, org_id: other.org_id })).toBeNull()
    })
  ))
