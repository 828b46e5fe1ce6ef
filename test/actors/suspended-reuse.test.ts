/** A suspended wallet takes no new runs, also none that would buy nothing because it reuses a result. A revoked key's run that waits buys nothing. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { RunStore } from "../../src/layers/runs/RunStore.ts"
import { newRun, planOfOne } from "../kit/new-runs.ts"
import { startStorage, type StorageRuntime } from "../kit/storage.ts"
import { report, takeTurn } from "../kit/turns.ts"

let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage()
})
afterAll(() => runtime.dispose())

/** Admits a run that asks for reuse. */
const ask = Effect.fnUntraced(function* (org_id: string, input_hash: string, mode: "prefer" | "only") {
  const plan = { ...planOfOne, reuse: { mode, max_age_seconds: 86_400 } }
  const run = newRun(org_id, { input_hash, plan })
  yield* (yield* RunStore).admit(run)
  return run.run_id
})

const suspend = (org_id: string, suspended: boolean) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE wallets SET suspended = ${suspended}, version = version + 1 WHERE org_id = ${org_id}`
  )

/** One run that has bought its result, and one that is buying it. */
const buyers = Effect.fnUntraced(function* (org_id: string) {
  const bought = yield* ask(org_id, "bought", "prefer")
  const buying = yield* ask(org_id, "buying", "prefer")
  const { started } = yield* takeTurn(org_id)
  expect(started.map(({ run_id }) => run_id).toSorted()).toEqual([bought, buying].toSorted())
  yield* report(started.find(({ run_id }) => run_id === bought) ?? expect.unreachable("the run was not started"))
  expect((yield* takeTurn(org_id)).ended).toMatchObject([{ run_id: bought, status: "succeeded" }])
  return { bought, buying }
})

/** Runs for the result that was bought, for the one that is being bought, and for one that nobody bought. */
const asks = Effect.fnUntraced(function* (org_id: string) {
  const reuses = yield* ask(org_id, "bought", "prefer")
  const joins = yield* ask(org_id, "buying", "prefer")
  const misses = yield* ask(org_id, "nobody bought", "only")
  const { ended, started } = yield* takeTurn(org_id)
  const sql = yield* SqlClient.SqlClient
  const waiting = yield* sql`SELECT run_id, joined FROM reuse_joins WHERE org_id = ${org_id}`
  const endOf = (id: string) => {
    const run = ended.find(({ run_id }) => run_id === id)
    return run === undefined ? null : [run.status, run.error_code, run.reuse?.reused_from ?? null]
  }
  return { started, waiting, joins, ends: [reuses, joins, misses].map(endOf) }
})

test("the runs of a suspended wallet are blocked, and neither take a result nor wait for one", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const org_id = yield* (yield* Accounts).createOrganization("suspended", null)
      const { bought, buying } = yield* buyers(org_id)
      yield* suspend(org_id, true)
      const blocked = ["blocked", "wallet_suspended", null]
      expect(yield* asks(org_id)).toMatchObject({ started: [], waiting: [], ends: [blocked, blocked, blocked] })
      // The same runs once the wallet takes runs again.
      yield* suspend(org_id, false)
      const { joins, ...resumed } = yield* asks(org_id)
      expect(resumed).toMatchObject({ started: [], waiting: [{ run_id: joins, joined: buying }] })
      expect(resumed.ends).toEqual([["succeeded", null, bought], null, ["no_match", "no_match", null]])
    })
  ))

test("a run that waits for another one is cancelled when it would have to buy, and its API key was revoked", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const org_id = yield* accounts.createOrganization("revoked", null)
      const keys = [
        yield* accounts.createKey(org_id, "kept", "test"),
        yield* accounts.createKey(org_id, "gone", "test")
      ]
      const plan = { ...planOfOne, reuse: { mode: "prefer" as const, max_age_seconds: 86_400 } }
      const buyer = newRun(org_id, { plan })
      const elsewhere = { ...plan, providers: ["prospeo"] }
      const waiting = keys.map(({ id }) => newRun(org_id, { plan: elsewhere, key_id: id, key_version: 0n }))
      for (const run of [buyer, ...waiting]) yield* (yield* RunStore).admit(run)
      const { started } = yield* takeTurn(org_id)
      const [kept, gone] = waiting.map(({ run_id }) => run_id)
      yield* accounts.revokeKey(org_id, keys[1]?.id ?? "")
      yield* report(started[0] ?? expect.unreachable("the run was not started"), { status: "failed" }, null)
      expect((yield* takeTurn(org_id)).ended.map(({ run_id }) => run_id)).toEqual([buyer.run_id])
      const again = yield* takeTurn(org_id)
      expect(again.started.map(({ run_id }) => run_id)).toEqual([kept ?? ""])
      expect(again.ended).toMatchObject([{ run_id: gone, status: "cancelled" }])
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT run_id FROM reuse_joins WHERE org_id = ${org_id}`).toEqual([])
    })
  ))
