/**
 * `accept` decides what is a match, and so what is charged: a refused answer costs nothing where a miss costs nothing, and the next provider
 * is called. Two answers that agree are charged each at its own price, and were held.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test"
import { type App, startApp, type Tenant, until } from "../../kit/app.ts"

interface Answers {
  tomba: unknown
  hunter: unknown
  leadmagic: unknown
}
let answers: Answers = { tomba: {}, hunter: {}, leadmagic: {} }
const asked: Array<string> = []
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request): Response => {
    const name = new URL(request.url).pathname.split("/")[1]
    asked.push(String(name))
    const body = name === "tomba" || name === "hunter" || name === "leadmagic" ? answers[name] : {}
    return Response.json(body)
  }
})

let app: App
let org: Tenant
beforeAll(async () => {
  const account = (name: string) => ({
    [`RUNGATE_PROVIDER_${name.toUpperCase()}_API_KEY`]: name === "tomba" ? "key:secret" : "key",
    [`RUNGATE_PROVIDER_${name.toUpperCase()}_BASE_URL`]: `http://127.0.0.1:${server.port}/${name}`
  })
  const accounts = ["tomba", "hunter", "leadmagic"].map(account)
  app = await startApp({ settings: Object.assign({ RUNGATE_MODE: "production" }, ...accounts) })
  org = await app.tenant("10.00")
})
afterAll(async () => {
  await app.books()
  await app.stop()
  await server.stop(true)
})
beforeEach(() => {
  asked.length = 0
})

const leadmagic = (email: string) => ({ email, status: "valid", credits_consumed: 1 })
const hunter = (email: string, first_name: string | null = null) => ({
  data: { email, first_name, verification: { status: "valid" } }
})
const tomba = (email: string) => ({ data: { email, verification: { status: "valid" } } })

const jane = { full_name: "Jane Doe", company_domain: "acme.com" }
const find = async (accept: unknown, more: Record<string, unknown> = {}) => {
  const { routing, ...rest } = { routing: {}, ...more }
  const reply = await org.run({
    ...{ capability: "email.find", input: jane, accept },
    ...{ routing: { strategy: "cheapest", ...routing }, ...rest }
  })
  return reply
}
const summaryOf = ({ body, status }: Awaited<ReturnType<typeof find>>) => ({
  status: `${status} ${body.status}`,
  provider: body.provider,
  charged: body.billing.charged,
  attempts: body.attempts.map((one: { provider: string; outcome: string }) => `${one.provider} ${one.outcome}`)
})
/** What stands in the ledger for a run, after the hold. */
const entriesOf = async (run_id: string) =>
  (await org.ledger())
    .flatMap((entry) => (entry.reference === run_id ? [`${entry.type} ${entry.amount}`] : []))
    .toReversed()

test("an answer without the wanted field costs nothing, and the next provider delivers", async () => {
  answers = { ...answers, leadmagic: leadmagic("jane@acme.com"), hunter: hunter("jane@acme.com", "Jane") }
  const reply = await find({ fields: ["first_name"] })
  expect(summaryOf(reply)).toEqual({
    status: "200 succeeded",
    provider: "hunter",
    charged: "0.0294",
    attempts: ["leadmagic no_match", "hunter succeeded"]
  })
  expect(reply.body.attempts[0].detail).toBe("accept refused the answer for its first_name")
  expect(await entriesOf(reply.body.run_id)).toEqual(["reserve -0.054", "settle -0.0294", "release 0.0246"])
})

test("when no answer is accepted, the run is a no_match and nothing is charged", async () => {
  answers = { ...answers, leadmagic: leadmagic("j@acme.com"), hunter: hunter("j@acme.com"), tomba: tomba("j@acme.com") }
  const reply = await find({ fields: ["source_count", "first_name"] })
  expect(summaryOf(reply)).toEqual({
    status: "404 no_match",
    provider: "tomba",
    charged: null,
    attempts: ["leadmagic no_match", "hunter no_match", "tomba no_match"]
  })
  expect(reply.body.error.message).toContain("No provider gave an answer that accept takes")
  expect(reply.body.hints.join(" ")).toContain("Ask for less in accept")
  expect(await entriesOf(reply.body.run_id)).toEqual(["reserve -0.054", "release 0.054"])
})

test("two providers that give the same are both charged, and both were held", async () => {
  answers = {
    ...answers,
    leadmagic: leadmagic("Jane.Doe@ACME.com"),
    hunter: hunter("other@acme.com"),
    tomba: tomba("jane.doe@acme.com")
  }
  const accept = { fields: ["email"], agree: 2 }
  const routing = { strategy: "cheapest" }
  const { body: quote } = await org.post("/v1/quote", { capability: "email.find", input: jane, accept, routing })
  expect(quote).toMatchObject({ hold: "0.0834", maximum: "0.0834" })
  expect(quote.routing_reason).toContain("called until two agree, which are both charged")
  const reply = await find(accept)
  expect(summaryOf(reply)).toEqual({
    status: "200 succeeded",
    provider: "leadmagic",
    charged: "0.066",
    attempts: ["leadmagic succeeded", "hunter no_match", "tomba succeeded"]
  })
  expect(reply.body.result.email).toBe("Jane.Doe@ACME.com")
  expect(await entriesOf(reply.body.run_id)).toEqual(["reserve -0.0834", "settle -0.066", "release 0.0174"])
  const receipt = await org.get(`/v1/runs/${reply.body.run_id}/details`)
  expect(receipt.body.decision.accept).toEqual({ fields: ["email"], agree: 2 })
  expect(receipt.body.request.accept).toEqual({ fields: ["email"], agree: 2 })
})

test("without a second provider that gives the same, nothing is charged", async () => {
  answers = { ...answers, leadmagic: leadmagic("a@acme.com"), hunter: hunter("b@acme.com"), tomba: tomba("c@acme.com") }
  const reply = await find({ fields: ["email"], agree: 2 })
  expect(summaryOf(reply)).toMatchObject({ status: "404 no_match", charged: null })
  expect(reply.body.result).toBeUndefined()
  expect(await entriesOf(reply.body.run_id)).toEqual(["reserve -0.0834", "release 0.0834"])
})

test("max_cost bounds what two answers cost together", async () => {
  answers = { ...answers, leadmagic: leadmagic("a@acme.com"), hunter: hunter("a@acme.com") }
  const accept = { fields: ["email"], agree: 2 }
  const reply = await find(accept, { routing: { max_cost: "0.05" } })
  expect(summaryOf(reply)).toMatchObject({ charged: "0.0414", attempts: ["leadmagic succeeded", "hunter succeeded"] })
  expect(await entriesOf(reply.body.run_id)).toEqual(["reserve -0.0414", "settle -0.0414"])
  const low = await find(accept, { routing: { max_cost: "0.04" } })
  expect(low.status).toBe(409)
  expect(low.body.error.code).toBe("provider_not_available")
})

test("a capability that charges a miss asks on, and charges one answer: the accepted one, or else the first", async () => {
  const verify = (accept: unknown) =>
    org.run({
      capability: "email.verify",
      input: { email: "jane@acme.com" },
      accept,
      routing: { strategy: "cheapest" }
    })
  answers = {
    ...answers,
    leadmagic: { email: "jane@acme.com", email_status: "valid", credits_consumed: 0.25 },
    hunter: { data: { email: "jane@acme.com", status: "valid", score: 97 } }
  }
  const accepted = await verify({ fields: ["score"] })
  expect(summaryOf(accepted)).toEqual({
    status: "200 succeeded",
    provider: "hunter",
    charged: "0.0147",
    attempts: ["leadmagic no_match", "hunter succeeded"]
  })
  const { body } = await org.post("/v1/inspect", { capability: "email.verify" })
  expect(body.accept.description).toContain("costs its first answer")

  const refused = await verify({ fields: ["did_you_mean"] })
  expect(summaryOf(refused)).toMatchObject({ status: "404 no_match", provider: "leadmagic", charged: "0.003" })
  expect(refused.body.attempts.every(({ outcome }: { outcome: string }) => outcome !== "succeeded")).toBe(true)
  expect(refused.body.result.email).toBe("jane@acme.com")
  expect((await org.get(`/v1/runs/${refused.body.run_id}`)).body.result.email).toBe("jane@acme.com")
})

test("what a capability does not return is refused with the field", async () => {
  const unknown = await find({ fields: ["phone"] })
  expect(unknown.status).toBe(400)
  expect(unknown.body.error.details[0].path).toBe("accept.fields")
  expect(unknown.body.error.message).toContain('"phone", which email.find does not return')
  expect((await find({ phone_type: "mobile" })).body.error.details[0].path).toBe("accept.phone_type")
  expect((await find({ max_age_days: 30 })).body.error.details[0].path).toBe("accept.max_age_days")
  expect((await find({ agree: 2 })).body.error.message).toContain("accept.agree needs accept.fields")
  const pinned = await find({ fields: ["email"], agree: 2 }, { routing: { provider: "hunter" } })
  expect(pinned.body.error.message).toContain("accept.agree needs two providers")
  const acts = await org.run({
    capability: "email.send",
    input: { from: "a@b.co", to: ["c@d.co"], subject: "s", text: "t" },
    accept: { fields: ["message_id"] }
  })
  expect(acts.body.error.details[0].path).toBe("accept")
  const raw = await org.run({ provider: "hunter", endpoint: "/account", input: {}, accept: { fields: ["email"] } })
  expect(raw.body.error.message).toContain("accept is for capabilities")
  expect(asked).toEqual([])
})

test("another accept is another run: it shares no Idempotency-Key and no earlier result", async () => {
  answers = { ...answers, leadmagic: leadmagic("jane@acme.com"), hunter: hunter("jane@acme.com", "Jane") }
  const key = { "idempotency-key": "accept-1" }
  const request = { capability: "email.find", input: jane, routing: { strategy: "cheapest" } }
  const first = await org.run({ ...request, accept: { fields: ["email"] } }, key)
  expect((await org.run({ ...request, accept: { fields: ["first_name"] } }, key)).status).toBe(422)
  const again = await org.run({ ...request, accept: { fields: ["email"] }, reuse: { mode: "only" } })
  expect(again.body.reused_from).toBe(first.body.run_id)
  const other = await org.run({ ...request, accept: { fields: ["confidence"] }, reuse: { mode: "only" } })
  expect(other.body.status).toBe("no_match")
})

test("a row of a batch carries it", async () => {
  answers = { ...answers, leadmagic: leadmagic("jane@acme.com"), hunter: hunter("jane@acme.com", "Jane") }
  const runs = [
    { capability: "email.find", input: jane, accept: { fields: ["first_name"] }, routing: { strategy: "cheapest" } }
  ]
  const { body } = await org.post("/v1/batches", { runs })
  const ended = await until(
    "the batch has ended",
    () => org.get(`/v1/batches/${body.id}`),
    (answer) => answer.body.done
  )
  expect(ended.body).toMatchObject({ rows: { succeeded: 1 }, charged: "0.0294" })
})
