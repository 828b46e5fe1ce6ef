/** A capability takes the result of the raw call that its adapter would make, and reads it as that adapter does. */
import { afterAll, expect, test } from "bun:test"
import { until, withApp } from "../kit/app.ts"
import { answer } from "../layers/providers/stage.ts"
import { standIn } from "../layers/providers/standin.ts"

const there = standIn()
const app = withApp({ settings: there.settings })
afterAll(async () => {
  await there.stop()
})

const email = "jane@example.com"
const verdict = { data: { email, status: "valid", score: 97, disposable: false, webmail: false, mx_records: true } }

test("email.verify takes a raw verification by Hunter, and calls nobody", async () => {
  const org = await app.tenant("5.00")
  there.play("hunter", answer(200, verdict))
  const { body: raw } = await org.run({ provider: "hunter", endpoint: "/email-verifier", query: { email }, input: {} })
  expect(raw.status).toBe("succeeded")
  await until(
    "the listed result",
    () => app.sql("SELECT FROM reusable_results WHERE run_id = $1", [raw.run_id]),
    (rows) => rows.length === 1
  )
  there.forget()
  const reuse = { mode: "only", max_age_seconds: 3_600 }
  const quote = await org.post("/v1/quote", { capability: "email.verify", input: { email }, reuse })
  expect(quote.body).toMatchObject({ hold: "0.00", reused_from: raw.run_id })
  const { body: run } = await org.run({ capability: "email.verify", input: { email }, reuse })
  expect(run).toMatchObject({
    ...{ status: "succeeded", provider: "hunter", reused_from: raw.run_id, attempts: [], billing: { charged: "0.00" } },
    result: { email, email_status: "valid", score: 97 }
  })
  expect(there.heard()).toEqual([])
  const other = await org.run({ capability: "email.verify", input: { email: "joan@example.com" }, reuse })
  expect(other.body.status).toBe("no_match")
  await app.books()
})
