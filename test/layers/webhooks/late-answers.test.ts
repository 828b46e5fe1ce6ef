/** An answer of a webhook that comes after another process has repeated the attempt, and has recorded how the delivery ended. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { type Outcome, WebhookDeliveries } from "../../../src/layers/webhooks/Deliveries.ts"
import { WebhookEndpoints } from "../../../src/layers/webhooks/Endpoints.ts"
import { startStorage, type StorageRuntime } from "../../kit/storage.ts"

let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage()
})
afterAll(() => runtime.dispose())

/** A delivery that two processes have claimed, the second one because the first one did not answer for a minute. */
const claimedTwice = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const deliveries = yield* WebhookDeliveries
  const org_id = yield* (yield* Accounts).createOrganization("webhooks", null)
  const endpoint = { url: "https://receiver.example", events: ["run.finished"], position: 0n }
  const endpoint_id = (yield* (yield* WebhookEndpoints).create(org_id, endpoint))?.row.id ?? ""
  const delivery_id = newId("whd")
  yield* sql`
    INSERT INTO webhook_deliveries (delivery_id, endpoint_id, event_id, kind, happened_at, body, next_attempt_at)
    VALUES (${delivery_id}, ${endpoint_id}, 'event', 'run.finished', now(), '{}', now())`
  const claim = Effect.map(deliveries.claim([], ""), (due) => due.find((one) => one.delivery_id === delivery_id))
  const first = yield* claim
  expect(yield* claim).toBeUndefined()
  yield* sql`UPDATE webhook_deliveries SET next_attempt_at = now() WHERE delivery_id = ${delivery_id}`
  const second = yield* claim
  if (first === undefined || second === undefined) return expect.unreachable("the delivery was not claimed")
  expect([first.attempts, second.attempts]).toEqual([1, 2])
  return { first, second, list: deliveries.list(endpoint_id, { status: null, before: null, limit: 10 }) }
})

const delivered: Outcome = { _tag: "Delivered" }
const retried: Outcome = { _tag: "Retry", inMillis: 0 }
const failed: Outcome = { _tag: "Failed", pause: null }
const answer = (status: number) => ({ at: new Date(), duration_ms: 1, status, answer: "" })

test.each([
  ["delivered", "would be retried", delivered, retried],
  ["delivered", "failed", delivered, failed],
  ["failed", "was delivered", failed, delivered],
  ["failed", "would be retried", failed, retried]
] as const)("a delivery that is %s stays so when a late answer says that it %s", (status, _, outcome, late) =>
  runtime.runPromise(
    Effect.gen(function* () {
      const deliveries = yield* WebhookDeliveries
      const { first, second, list } = yield* claimedTwice
      yield* deliveries.record(second, answer(200), outcome)
      const before = yield* list
      expect(before).toMatchObject([{ status, attempts: 2, next_attempt_at: null, answers: [{ status: 200 }] }])
      yield* deliveries.record(first, answer(500), late)
      expect(yield* list).toEqual(before)
    })
  )
)

test("an open delivery takes the answers of both processes", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const deliveries = yield* WebhookDeliveries
      const { first, second, list } = yield* claimedTwice
      yield* deliveries.record(second, answer(503), retried)
      yield* deliveries.record(first, answer(200), delivered)
      expect(yield* list).toMatchObject([{ status: "delivered", answers: [{ status: 503 }, { status: 200 }] }])
    })
  ))

test("a late failure neither ends a delivery that was replayed nor makes another process's attempt due again", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const deliveries = yield* WebhookDeliveries
      const { first, second, list } = yield* claimedTwice
      const [before] = yield* list
      yield* deliveries.record(first, answer(500), retried)
      expect(yield* list).toMatchObject([
        { status: "pending", attempts: 2, next_attempt_at: before?.next_attempt_at, answers: [{ status: 500 }] }
      ])
      const replayed = yield* deliveries.replay(second.endpoint_id, second.delivery_id)
      expect(replayed).toMatchObject({ status: "pending", attempts: 0 })
      yield* deliveries.record(second, answer(500), failed)
      expect(yield* list).toMatchObject([
        { status: "pending", attempts: 0, next_attempt_at: replayed?.next_attempt_at, answers: [{}, { status: 500 }] }
      ])
    })
  ))

test("what the URL before answered says nothing about the endpoint's new one", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const deliveries = yield* WebhookDeliveries
      const endpoints = yield* WebhookEndpoints
      const { first, second, list } = yield* claimedTwice
      yield* deliveries.record(first, answer(500), retried)
      const at = { org: second.org_id, id: second.endpoint_id }
      expect((yield* endpoints.find(at.org, at.id))?.failing_since).toBeDate()
      yield* endpoints.change(at.org, at.id, { url: second.url })
      expect((yield* endpoints.find(at.org, at.id))?.failing_since).toBeDate()
      yield* endpoints.change(at.org, at.id, { url: "https://new.example" })
      expect(yield* endpoints.find(at.org, at.id)).toMatchObject({ status: "active", failing_since: null })
      yield* deliveries.record(second, answer(500), retried)
      yield* deliveries.record(second, answer(410), { _tag: "Failed", pause: "gone" })
      expect(yield* endpoints.find(at.org, at.id)).toMatchObject({ status: "active", failing_since: null })
      // Attempts of a delivery that is replayed are counted anew, so its first one at the new URL has the number of the first one before.
      yield* deliveries.replay(at.id, second.delivery_id)
      const [again] = (yield* deliveries.claim([], "")).filter((one) => one.delivery_id === second.delivery_id)
      expect(again).toMatchObject({ attempts: 1, url: "https://new.example" })
      yield* deliveries.record(first, answer(410), { _tag: "Failed", pause: "gone" })
      expect(yield* list).toMatchObject([{ status: "pending", attempts: 1 }])
    })
  ))
