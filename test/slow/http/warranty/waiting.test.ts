/** Disputes that wait: a worker asks the provider again, and nobody has to repeat them. */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test"
import { Layer } from "effect"
import { DisputeSeconds } from "../../../../src/actors/warranty/DisputeWorker.ts"
import { asksPerHourMax } from "../../../../src/schema/wallet/Warranty.ts"
import { type Tenant, until, withApp } from "../../../kit/app.ts"
import { answer } from "../../../layers/providers/stage.ts"
import { standIn } from "../../../layers/providers/standin.ts"
import { indexedAndCounted } from "../../../kit/finished-work.ts"

const there = standIn()
let org: Tenant
let run_id: string
let sent: string
const app = withApp({
  settings: { ...there.settings, RUNGATE_WARRANTY_SHARE: "1" },
  limits: Layer.succeed(DisputeSeconds, 0.02)
})
afterAll(async () => {
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  org = await app.tenant("5.00")
  await app.sql("INSERT INTO owned_resources (kind, resource_id, org_id) VALUES ('sender', 'me@acme.example', $1)", [
    org.org_id
  ])
  run_id = await check()
  sent = await send()
  await indexedAndCounted(app)
})
afterEach(async () => {
  await app.sql("DELETE FROM owned_resources")
  await app.books()
})

const address = "gone@blackhole.postmarkapp.com"
const message_id = "2c1b63fe-43f2-4db5-91b0-8bdfa44a9316"
const check = async () => {
  there.play("leadmagic", answer(200, { email_status: "valid", credits_consumed: 0.25 }))
  const input = { email: address }
  const { body } = await org.run({ capability: "email.verify", input, routing: { provider: "leadmagic" } })
  expect(body.result.email_status).toBe("valid")
  return String(body.run_id)
}
const send = async () => {
  there.play("postmark", answer(200, { MessageID: message_id, ErrorCode: 0, Message: "OK" }))
  const input = { from: "me@acme.example", to: address, subject: "Hello", text: "Hi" }
  const { body } = await org.run({ capability: "email.send", input, routing: { provider: "postmark" } })
  expect(body.status).toBe("succeeded")
  return String(body.run_id)
}
const bounced = answer(200, {
  TotalCount: 1,
  Bounces: [{ Type: "HardBounce", MessageID: message_id, Email: address }]
})
const asked = () => there.heard("postmark").filter(({ method }) => method === "GET").length
const standing = async () => (await org.get(`/v1/runs/${run_id}/dispute`)).body
const dispute = async (evidence: string) =>
  (await org.post(`/v1/runs/${run_id}/dispute`, { reason: "bounced", evidence })).body
/** A dispute as a process left it that stopped while it asked. */
const abandoned = () =>
  app.sql(
    `INSERT INTO warranty_disputes (run_id, org_id, reason, evidence, state, note, asks, asked_at, ask_after)
     VALUES ($1, $2, 'bounced', $3, 'pending', 'Postmark is being asked', 1, now(), now())`,
    [run_id, org.org_id, sent]
  )
const refunded = async () => {
  await until("the dispute is refunded", standing, ({ state }) => state === "refunded")
  await until(
    "one refund is booked",
    () => org.ledger(),
    (entries) => entries.filter(({ reference }) => reference === `warranty:${run_id}`).length === 1
  )
}

test("a provider that did not answer is asked again when its time has come", async () => {
  there.play("postmark", answer(500, {}), bounced)
  expect(await dispute(sent)).toMatchObject({ state: "pending", note: expect.stringContaining("is asked again") })
  expect(asked()).toBe(1)
  await app.sql("UPDATE warranty_disputes SET ask_after = now() WHERE run_id = $1", [run_id])
  await refunded()
  expect(asked()).toBe(2)
})

test("a dispute whose process stopped while it asked is decided by another", async () => {
  there.play("postmark", bounced)
  await abandoned()
  await refunded()
  expect(asked()).toBe(1)
})

test("a dispute beyond the organization's questions of an hour is asked about later", async () => {
  await app.sql(
    `INSERT INTO warranty_disputes (run_id, org_id, reason, evidence, state, note, asks, asked_at)
     SELECT 'run_other' || n, $1, 'bounced', 'a text', 'refused', 'x', 1, now() FROM generate_series(1, $2::int) n`,
    [org.org_id, asksPerHourMax]
  )
  expect(await dispute(sent)).toMatchObject({ state: "pending", note: expect.stringContaining("asked later") })
  expect(asked()).toBe(0)
  there.play("postmark", bounced)
  await app.sql("UPDATE warranty_disputes SET asked_at = now() - interval '61 minutes' WHERE run_id LIKE 'run_other%'")
  await refunded()
})

test("what a provider can't decide is left to the operator, once", async () => {
  expect(await dispute("my mail server said so")).toMatchObject({ state: "pending" })
  const text = run_id
  run_id = await check()
  sent = await send()
  await app.sql("UPDATE runs SET finished_at = finished_at - interval '8 days' WHERE run_id = $1", [run_id])
  await abandoned()
  const left = await until("it is left", standing, ({ ask_after }) => ask_after === null)
  expect(left).toMatchObject({
    state: "pending",
    note: expect.stringMatching(/^the run was covered for 7 days .* decides$/)
  })
  run_id = text
  expect(await standing()).toMatchObject({ state: "pending", note: "the evidence is a text, so the operator decides" })
  expect(asked()).toBe(0)
  await app.sql(
    "UPDATE runs SET finished_at = finished_at + interval '8 days' WHERE finished_at < now() - interval '7 days'"
  )
})
