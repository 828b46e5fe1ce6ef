/** The database keeps the day's limit of free storage too: a turn that decides wrongly admits nothing. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { decideTurn } from "../../src/actors/wallet/DecideTurn.ts"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { TurnStore } from "../../src/layers/ledger/TurnStore.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { RunStore } from "../../src/layers/runs/RunStore.ts"
import { freeBytesOf, freeExceeded } from "../../src/schema/wallet/FreeStorage.ts"
import { newRun, planOfOne } from "../kit/new-runs.ts"
import { startStorage, type StorageRuntime } from "../kit/storage.ts"
import { takeTurn } from "../kit/turns.ts"

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
  const use = { stored: 3n, reserved: 4n, asked: 3n, limit: 10n }
  expect(freeExceeded(use)).toBeNull()
  for (const more of [{ stored: 4n }, { reserved: 5n }, { asked: 4n }, { limit: 9n }])
    expect(freeExceeded({ ...use, ...more })).toContain("may store")
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
