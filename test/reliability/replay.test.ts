/** A request repeated with its Idempotency-Key gets its run, also where a new run of it would be refused by now. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test"
import { type App, startApp, type Tenant, verify } from "../kit/app.ts"
import { documentOf, endpointOf } from "../kit/provider-documents.ts"
import { answer } from "../layers/providers/stage.ts"
import { standIn } from "../layers/providers/standin.ts"

const there = standIn()
/** It reports what a call cost. */
const crustdata = documentOf("crustdata", [
  endpointOf({
    path: "/search",
    method: "POST",
    body: { type: "object", additionalProperties: true },
    cost: { model: "unpublished", estimate: null, note: null }
  })
])
let app: App
/** Answers requests of the same database later: its smallest cap is higher, and an account is gone. It executes nothing. */
let later: App
let org: Tenant
beforeAll(async () => {
  app = await startApp({ settings: { ...there.settings, RUNGATE_RAW_MIN_CAP: "0.10" } })
  await app.catalog(crustdata)
  const account = /^RUNGATE_PROVIDER_MILLIONVERIFIER_/
  const left = Object.entries(there.settings).filter(([name]) => !account.test(name))
  later = await startApp({
    beside: app,
    role: "http",
    settings: { ...Object.fromEntries(left), RUNGATE_RAW_MIN_CAP: "0.50" }
  })
  await later.catalog(crustdata)
})
afterAll(async () => {
  await later.stop()
  await app.stop()
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  there.play("crustdata", answer(200, { found: 1 }))
  org = await app.tenant("5.00")
})
afterEach(() => app.books())

const raw = { provider: "crustdata", endpoint: "/search", input: { a: 1 }, routing: { max_cost: "0.20" } }
const key = { "idempotency-key": "once" }

test("a raw run whose cap has become too low", async () => {
  const first = await org.run(raw, key)
  expect(first.status).toBe(200)
  const again = await org.over(later).run(raw, key)
  expect([again.status, again.headers.get("idempotent-replay")]).toEqual([200, "true"])
  expect(again.body).toEqual(first.body)
  expect(there.heard("crustdata")).toHaveLength(1)

  const refused = { status: 400, path: "routing.max_cost" }
  for (const [body, headers] of [
    [raw, {}],
    [raw, { "idempotency-key": "another" }],
    [{ ...raw, input: { a: 2 } }, key]
  ] as const) {
    const told = await org.over(later).run(body, headers)
    expect({ status: told.status, path: told.body.error.details[0].path }).toEqual(refused)
  }
  const stranger = await app.tenant("5.00")
  expect((await stranger.over(later).run(raw, key)).status).toBe(400)
})

test("a capability whose provider has no account any more", async () => {
  there.play("millionverifier", answer(200, { result: "ok" }))
  const asked = { ...verify(), routing: { provider: "millionverifier" } }
  const first = await org.run(asked, key)
  expect(first.status).toBe(200)
  const again = await org.over(later).run(asked, key)
  expect([again.status, again.body.run_id, again.headers.get("idempotent-replay")]).toEqual([
    200,
    first.body.run_id,
    "true"
  ])
  expect((await org.over(later).run(asked)).body.error.code).toBe("provider_not_available")
})

test("a revoked key gets no run back, also where the process remembers the key", async () => {
  expect((await org.run(raw, key)).status).toBe(200)
  expect((await org.over(later).run(raw, key)).status).toBe(200)
  await app.call(await org.session(), "DELETE", `/v1/api-keys/${org.key_id}`)
  const told = await org.over(later).run(raw, key)
  expect([400, 401]).toContain(told.status)
  expect(told.body.run_id).toBeUndefined()
})
