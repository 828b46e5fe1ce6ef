/** The database keeps the day's limit of free storage too: a turn that decides wrongly admits nothing. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { decideTurn } from "../../src/actors/wallet/DecideTurn.ts"
import type { KeyRules } from "../../src/layers/accounts/ApiKeys.ts"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { TurnStore } from "../../src/layers/ledger/TurnStore.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { RunStore } from "../../src/layers/runs/RunStore.ts"
import { freeBytesOf, freeExceeded, storesNothing } from "../../src/schema/wallet/FreeStorage.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { newRun, planOfOne } from "../kit/new-runs.ts"
import { startStorage, type StorageRuntime } from "../kit/storage.ts"
import { credit, takeTurn } from "../kit/turns.ts"

const mebibyte = 1024n * 1024n

let runtime: StorageRuntime
beforeAll(async () => {
  // A run of newRun counts 8 MiB while it is open.
  runtime = await startStorage({ RUNGATE_FREE_DAILY_MB: "20" })
})
afterAll(() => runtime.dispose())

test("what an open run counts: 2 MiB through own accounts, 8 MiB otherwise, nothing with a hold", () => {
  const own = (fallback: boolean) => [{ provider: "hunter", fee: "0.00", fallback }]
  const bytes = (hold: bigint, more: object = {}) => freeBytesOf({ hold, plan: () => ({ ...planOfOne, ...more }) })
  expect([bytes(0n), bytes(0n, { own: own(false) }), bytes(0n, { own: own(true) })]).toEqual([
    8n * mebibyte,
    2n * mebibyte,
    8n * mebibyte
  ])
  expect([bytes(1n), bytes(0n, { own: own(false), providers: ["hunter", "apollo"] })]).toEqual([null, 8n * mebibyte])
})

test("the limit itself still fits, and one byte more is refused", () => {
  const use = { stored: 3n, reserved: 4n, requested: 3n, limit: 10n }
  expect(freeExceeded(use)).toBeNull()
  for (const more of [{ stored: 4n }, { reserved: 5n }, { requested: 4n }, { limit: 9n }])
    expect(freeExceeded({ ...use, ...more })).toContain("may store")
})

test("nothing is stored beyond the limit, and of what the wallet can pay beyond twice the limit for a limited key, three times otherwise", () => {
  const full = (payable: boolean, limitedKey: boolean) =>
    [0n, 9n, 10n, 19n, 20n, 29n, 30n].filter((stored) => storesNothing(stored, 10n, payable, limitedKey))[0]
  expect([full(false, true), full(false, false), full(true, true), full(true, false)]).toEqual([10n, 10n, 20n, 30n])
  expect(storesNothing(1_000n, 0n, false, true)).toBe(false)
})

test("a turn that ignores the limit is rolled back, and one that keeps it admits what fits", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const org_id = yield* (yield* Accounts).createOrganization("free", null)
      const runs = Array.from({ length: 3 }, () => newRun(org_id))
      for (const run of runs) yield* (yield* RunStore).admit(run)
      const [wallet] = yield* sql<{ lane: number }>`SELECT lane FROM wallets WHERE org_id = ${org_id}`
      const names = { txn_id: () => newId("txn"), payment_id: () => newId("pay"), token: () => newId("cmd") }
      const wrong = yield* Effect.result(
        (yield* TurnStore).turn(wallet?.lane ?? 0, 100, [], false, (view) =>
          decideTurn({ ...view, free: new Map(), free_limit: 0n }, { workerId: "none", tryTake: () => true }, names)
        )
      )
      expect(wrong).toMatchObject({ _tag: "Failure", failure: { _tag: "TurnConflict" } })
      const open = sql<{ bytes: bigint }>`SELECT free_bytes AS bytes FROM open_runs WHERE org_id = ${org_id}`
      expect(yield* open).toEqual([])
      const right = yield* takeTurn(org_id)
      expect(right.ended.map(({ status, error_code }) => [status, error_code])).toEqual([["blocked", "rate_limited"]])
      expect(yield* open).toEqual([{ bytes: 8n * mebibyte }, { bytes: 8n * mebibyte }])
    })
  ))

test("admission asks the database, so a process that takes no turns stores nothing either", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const org_id = yield* (yield* Accounts).createOrganization("full", null)
      const tags = () =>
        Effect.forEach([0n, 5n, 6n], (hold) =>
          Effect.map(
            Effect.flatMap(RunStore, (store) => store.admit(newRun(org_id, { hold }))),
            ({ _tag }) => _tag
          )
        )
      const fill = (bytes: bigint) =>
        sql`INSERT INTO free_storage VALUES (${org_id}, (now() AT TIME ZONE 'UTC')::date, ${bytes})
            ON CONFLICT (org_id) DO UPDATE SET bytes = excluded.bytes`
      yield* sql`UPDATE wallets SET balance = 7, reserved = 3, allowances_held = 1 WHERE org_id = ${org_id}`
      yield* fill(20n * mebibyte - 1n)
      expect(yield* tags()).toEqual(["Admitted", "Admitted", "Admitted"])
      yield* fill(20n * mebibyte)
      expect(yield* tags()).toEqual(["StorageFull", "Admitted", "StorageFull"])
      const rules: ReadonlyArray<KeyRules> = [
        { allow: { raw: true } },
        { budget: { limit: dollars("1.00"), period: "total" } },
        {}
      ]
      const keyed = Effect.forEach(rules, (rule) =>
        Effect.gen(function* () {
          const { id: key_id } = yield* (yield* Accounts).createKey(org_id, "key", "test", rule)
          return (yield* (yield* RunStore).admit(newRun(org_id, { hold: 5n, key_id, key_version: 0n })))._tag
        })
      )
      yield* fill(40n * mebibyte)
      expect(yield* keyed).toEqual(["StorageFull", "StorageFull", "Admitted"])
      yield* fill(60n * mebibyte - 1n)
      expect(yield* tags()).toEqual(["StorageFull", "Admitted", "StorageFull"])
      yield* fill(60n * mebibyte)
      expect(yield* tags()).toEqual(["StorageFull", "StorageFull", "StorageFull"])
      expect(yield* sql`SELECT count(*)::int AS runs FROM runs WHERE org_id = ${org_id}`).toEqual([{ runs: 6 }])
      yield* sql`UPDATE free_storage SET day = day - 1 WHERE org_id = ${org_id}`
      expect(yield* tags()).toEqual(["Admitted", "Admitted", "Admitted"])
    })
  ))

test("runs with a hold that an own account may deliver at no charge count while they are open", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const org_id = yield* (yield* Accounts).createOrganization("own", null)
      yield* credit(org_id, "1.00")
      const plan = { ...planOfOne, own: [{ provider: "hunter", fee: "0.00", fallback: true }] }
      for (let run = 0; run < 12; run++) yield* (yield* RunStore).admit(newRun(org_id, { hold: 1n, plan }))
      const { ended } = yield* takeTurn(org_id)
      const mine = ended.filter((run) => run.org_id === org_id)
      expect(mine.map(({ status, error_code }) => [status, error_code])).toEqual([
        ["blocked", "rate_limited"],
        ["blocked", "rate_limited"]
      ])
      expect(
        yield* sql`SELECT hold, sum(free_bytes)::bigint AS bytes FROM open_runs WHERE org_id = ${org_id} GROUP BY hold`
      ).toEqual([{ hold: 1n, bytes: 20n * mebibyte }])
    })
  ))
