/** A batch whose API key gets another budget moves to a budget beneath that one. Old and new together never allow more than `max_total`. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { BatchFeeds } from "../../../src/layers/batches/BatchFeeds.ts"
import { BatchStore } from "../../../src/layers/batches/BatchStore.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { startStorage, type StorageRuntime } from "../../kit/storage.ts"

let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage({ RUNGATE_LEASE_SECONDS: "7" })
})
afterAll(() => runtime.dispose())

const max_total = dollars("1.00")

/** A batch that this process feeds, and the budget that its key got meanwhile. */
const fed = Effect.gen(function* () {
  const accounts = yield* Accounts
  const sql = yield* SqlClient.SqlClient
  const org_id = yield* accounts.createOrganization("batch", null)
  const budget = { limit: dollars("5.00"), period: "total" } as const
  const { id: key_id } = yield* accounts.createKey(org_id, "key", "test", { budget })
  const [key] = yield* sql<{ budget_id: string }>`SELECT budget_id FROM api_keys WHERE key_id = ${key_id}`
  yield* (yield* BatchStore).create({
    ...{
      org_id,
      key_id,
      key_budget_id: null,
      started_by: null,
      request_id: "req_test",
      idempotency_key: null,
      fingerprint: ""
    },
    ...{ max_total, metadata: null, requests: ["{}"] }
  })
  const feed = (yield* (yield* BatchFeeds).claim(10)).find((one) => one.org_id === org_id)
  return { feed: feed ?? expect.unreachable("the batch was not claimed"), parent_id: key?.budget_id ?? "" }
})

/** All budgets that the batch had. */
const budgets = (org_id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ budget_id: string; amount: bigint; spent_total: bigint; parent_id: string | null }>`
      SELECT budget_id, amount, spent_total, parent_id FROM key_budgets
      WHERE org_id = ${org_id} AND starts_with(budget_id, 'bat_') ORDER BY budget_id`
  )
const count = (budget_id: string, sums: { readonly spent: bigint; readonly reserved: bigint }) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      UPDATE key_budgets SET spent_total = ${sums.spent}, reserved = ${sums.reserved} WHERE budget_id = ${budget_id}`
  )

test("a batch is leased for RUNGATE_LEASE_SECONDS, as a run is", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const { feed } = yield* fed
      const sql = yield* SqlClient.SqlClient
      const [lease] = yield* sql<{ seconds: number }>`
        SELECT extract(epoch FROM lease_until - fed_at)::int AS seconds FROM batches WHERE batch_id = ${feed.batch_id}`
      expect(lease?.seconds).toBe(7)
    })
  ))

test("the new budget has what the old one had left, and the old one allows nothing more", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const feeds = yield* BatchFeeds
      const { feed, parent_id } = yield* fed
      const { batch_id, org_id } = feed
      yield* count(batch_id, { spent: dollars("0.30"), reserved: 0n })
      const second = yield* feeds.rebudget(feed, parent_id)
      expect(yield* budgets(org_id)).toEqual([
        { budget_id: batch_id, amount: dollars("0.30"), spent_total: dollars("0.30"), parent_id: null },
        { budget_id: second ?? "", amount: dollars("0.70"), spent_total: 0n, parent_id }
      ])
      // Again, now because the key lost its budget.
      yield* count(second ?? "", { spent: dollars("0.20"), reserved: 0n })
      const third = yield* feeds.rebudget({ ...feed, budget_id: second ?? "", parent_id }, null)
      const all = yield* budgets(org_id)
      expect(all.map(({ amount }) => amount)).toEqual([dollars("0.30"), dollars("0.20"), dollars("0.50")])
      expect(all.at(-1)).toMatchObject({ budget_id: third, parent_id: null })
      yield* feeds.release(feed)
      expect(yield* feeds.claim(10)).toMatchObject([{ batch_id, budget_id: third, parent_id: null }])
    })
  ))

test("nothing moves while runs of the batch hold money, and for a process that lost the batch", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const feeds = yield* BatchFeeds
      const { feed, parent_id } = yield* fed
      const before = [{ budget_id: feed.batch_id, amount: max_total, spent_total: 0n, parent_id: null }]
      yield* count(feed.batch_id, { spent: 0n, reserved: dollars("0.10") })
      expect(yield* feeds.rebudget(feed, parent_id)).toBeNull()
      yield* count(feed.batch_id, { spent: 0n, reserved: 0n })
      expect(yield* feeds.rebudget({ ...feed, lease_token: "lost" }, parent_id)).toBeNull()
      expect(yield* budgets(feed.org_id)).toEqual(before)
    })
  ))
