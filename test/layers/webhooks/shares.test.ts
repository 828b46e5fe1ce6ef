/** Whose webhooks get a process's places, when more are due than it sends at once. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { type DueDelivery, type Outcome, WebhookDeliveries } from "../../../src/layers/webhooks/Deliveries.ts"
import { WebhookEndpoints } from "../../../src/layers/webhooks/Endpoints.ts"
import {
  places,
  placesOfEndpoint,
  placesOfFailing,
  placesOfOrganization,
  slowMillis,
  usesUp
} from "../../../src/schema/webhooks/Shares.ts"
import { startStorage, type StorageRuntime } from "../../kit/storage.ts"

let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage()
})
afterEach(() =>
  runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`TRUNCATE webhook_endpoints CASCADE`))
)
afterAll(() => runtime.dispose())

const run = <A, R extends SqlClient.SqlClient | WebhookDeliveries | WebhookEndpoints | Accounts>(
  work: Effect.Effect<A, unknown, R>
) => runtime.runPromise(work as Effect.Effect<A, unknown, never>)

/** An organization with endpoints that have `due` deliveries each. */
const organization = Effect.fnUntraced(function* (count: number, due: number, failing = false) {
  const sql = yield* SqlClient.SqlClient
  const org_id = yield* (yield* Accounts).createOrganization("webhooks", null)
  const endpoint = { url: "https://receiver.example", events: ["run.finished"], position: 0n }
  for (let n = 0; n < count; n++) yield* (yield* WebhookEndpoints).create(org_id, endpoint)
  if (failing) yield* sql`UPDATE webhook_endpoints SET failing_since = now() WHERE org_id = ${org_id}`
  yield* sql`
    INSERT INTO webhook_deliveries (delivery_id, endpoint_id, event_id, kind, happened_at, body, next_attempt_at)
    SELECT endpoint_id || n, endpoint_id, n, 'run.finished', now(), '{}', now() - make_interval(secs => 100 - n)
    FROM webhook_endpoints, generate_series(1, ${due}::int) n WHERE org_id = ${org_id}`
  return org_id
})

const claimed = (sending: ReadonlyArray<DueDelivery> = [], after = "") =>
  Effect.flatMap(WebhookDeliveries, (deliveries) => deliveries.claim(sending, after))
const counts = (due: ReadonlyArray<DueDelivery>, of: "org_id" | "endpoint_id" = "org_id") =>
  new Map([...Map.groupBy(due, (one) => one[of])].map(([id, own]) => [id, own.length]))
const answered = (delivery: DueDelivery, outcome: Outcome, duration_ms = 1) =>
  Effect.flatMap(WebhookDeliveries, (deliveries) =>
    deliveries.record(delivery, { at: new Date(), duration_ms, status: 200, answer: "" }, outcome)
  )

test("an organization has at most ten places, five of them for one endpoint", () =>
  run(
    Effect.gen(function* () {
      const org_id = yield* organization(3, 20)
      const first = yield* claimed()
      expect(counts(first)).toEqual(new Map([[org_id, placesOfOrganization]]))
      expect(Math.max(...counts(first, "endpoint_id").values())).toBeLessThanOrEqual(placesOfEndpoint)
      expect(yield* claimed(first)).toEqual([])
      // What has ended leaves its place to the next one.
      const [ended, ...left] = first
      if (ended === undefined) return expect.unreachable()
      expect(counts(yield* claimed(left))).toEqual(new Map([[org_id, 1]]))
    })
  ))

test("organizations get places in turn, and whoever has none is first", () =>
  run(
    Effect.gen(function* () {
      const many = yield* Effect.forEach(Array.from({ length: 7 }), () => organization(2, 20))
      const first = yield* claimed()
      expect(first).toHaveLength(places)
      // 50 places for 7 organizations: one gets 8, the others 7.
      expect([...counts(first).values()].toSorted()).toEqual([7, 7, 7, 7, 7, 7, 8])
      const late = yield* organization(1, 1)
      expect(counts(yield* claimed(first.slice(1)))).toEqual(new Map([[late, 1]]))
      expect(many).not.toContain(late)
    })
  ))

test("a claim starts with the organization behind the one that got the last place", () =>
  run(
    Effect.gen(function* () {
      const [a, b, c] = (yield* Effect.forEach(Array.from({ length: 3 }), () => organization(1, 1))).toSorted()
      if (a === undefined || b === undefined || c === undefined) return expect.unreachable()
      const others = yield* organization(1, 0)
      const full = Array.from({ length: places - 1 }, () => ({
        ...{ delivery_id: "", endpoint_id: others, org_id: others, event_id: "", url: "", body: "", attempts: 1 },
        ...{ secrets: [], failing: false, failing_since: null }
      }))
      expect(counts(yield* claimed(full, a))).toEqual(new Map([[b, 1]]))
      expect(counts(yield* claimed(full, b))).toEqual(new Map([[c, 1]]))
      expect(counts(yield* claimed(full, c))).toEqual(new Map([[a, 1]]))
    })
  ))

test("an endpoint that is failing has one place in all processes, until its answer is recorded", () =>
  run(
    Effect.gen(function* () {
      const org_id = yield* organization(1, 20, true)
      const [probe, ...more] = yield* claimed()
      if (probe === undefined) return expect.unreachable()
      expect(more).toEqual([])
      // Another process sends nothing yet.
      expect(yield* claimed()).toEqual([])
      yield* answered(probe, { _tag: "Retry", inMillis: 60_000 })
      const [second, ...others] = yield* claimed()
      if (second === undefined) return expect.unreachable()
      expect([second.org_id, others.length]).toEqual([org_id, 0])
      // It accepts again, so it has the places of any endpoint.
      yield* answered(second, { _tag: "Delivered" })
      expect(yield* claimed()).toHaveLength(placesOfEndpoint)
    })
  ))

test("an endpoint that begins to fail gets no more places while earlier webhooks to it are under way", () =>
  run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* organization(1, 20)
      const first = yield* claimed()
      expect(first).toHaveLength(placesOfEndpoint)
      yield* sql`UPDATE webhook_endpoints SET failing_since = now()`
      expect(yield* claimed(first.slice(1))).toEqual([])
      expect(yield* claimed()).toHaveLength(1)
    })
  ))

test("a failing endpoint whose process has died is tried by another one after a minute", () =>
  run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* organization(1, 20, true)
      expect(yield* claimed()).toHaveLength(1)
      const until = yield* sql<{ seconds: number }>`
        SELECT extract(epoch FROM until - now())::float AS seconds FROM webhook_probes`
      expect(until[0]?.seconds).toBeLessThanOrEqual(60)
      yield* sql`UPDATE webhook_probes SET until = now()`
      expect(yield* claimed()).toHaveLength(1)
      expect(yield* claimed()).toEqual([])
    })
  ))

test("failing endpoints take half of the places at most, and those that answer are first in their organization", () =>
  run(
    Effect.gen(function* () {
      const flood = yield* Effect.forEach(Array.from({ length: 5 }), () => organization(10, 5, true))
      const first = yield* claimed()
      expect(first).toHaveLength(placesOfFailing)
      expect([...counts(first).values()]).toEqual(flood.map(() => placesOfFailing / flood.length))
      expect(yield* claimed(first)).toEqual([])
      const good = yield* organization(1, 3)
      expect(counts(yield* claimed(first))).toEqual(new Map([[good, 3]]))
    })
  ))

test("two processes that claim at once send each webhook once", () =>
  run(
    Effect.gen(function* () {
      yield* Effect.forEach(Array.from({ length: 5 }), () => organization(10, 5, true))
      yield* Effect.forEach(Array.from({ length: 5 }), () => organization(2, 10))
      const all = (yield* Effect.all([claimed(), claimed(), claimed()], { concurrency: 3 })).flat()
      expect(new Set(all.map((one) => one.delivery_id)).size).toBe(all.length)
      const failing = all.filter((one) => one.failing).map((one) => one.endpoint_id)
      expect(new Set(failing).size).toBe(failing.length)
    })
  ))

const sent = (count: number, own: { org_id?: string; endpoint_id?: string; failing?: boolean }) =>
  Array.from({ length: count }, (_, n) => ({ org_id: `o${n}`, endpoint_id: `e${n}`, failing: false, ...own }))

test.each([
  ["all places", places, {}],
  ["the organization's", placesOfOrganization, { org_id: "org" }],
  ["the endpoint's", placesOfEndpoint, { endpoint_id: "endpoint" }],
  ["those of failing endpoints", placesOfFailing, { failing: true }]
] as const)("the worker looks for more when a webhook ends that used up %s", (_, share, own) => {
  const one = { org_id: "o0", endpoint_id: "e0", failing: false, ...own }
  expect(usesUp(sent(share, own), one)).toBe(true)
  // A failing endpoint has one place, which is always used up.
  expect(usesUp(sent(share - 1, own), one)).toBe("failing" in own)
})

test("an endpoint that answers slowly has one place until it answers faster", () =>
  run(
    Effect.gen(function* () {
      const org_id = yield* organization(1, 20)
      const first = yield* claimed()
      expect(first).toHaveLength(placesOfEndpoint)
      for (const delivery of first) yield* answered(delivery, { _tag: "Delivered" }, slowMillis + 1)
      const slow = yield* claimed()
      expect(counts(slow)).toEqual(new Map([[org_id, 1]]))
      expect(slow.map(({ failing }) => failing)).toEqual([true])
      // The one place counts for all processes.
      expect(yield* claimed()).toEqual([])
      for (const delivery of slow) yield* answered(delivery, { _tag: "Delivered" }, slowMillis)
      expect(yield* claimed()).toHaveLength(placesOfEndpoint)
    })
  ))
