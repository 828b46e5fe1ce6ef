/**
 * T66: what the service answers is what /openapi.json says. Every request that any test makes through test/kit/app.ts is checked; this file
 * makes sure that each operation succeeds once under that check, and that undocumented methods are refused.
 */
import { beforeAll, describe, expect, test } from "bun:test"
import { Ajv2020 } from "ajv/dist/2020.js"
import { clientId } from "../../src/schema/oauth/Client.ts"
import { OpenApi } from "effect/http-api"
import { figures, type Reply, type Tenant, verify, withApp } from "../kit/app.ts"
import { Api } from "../../src/http/api/Api.ts"
import { contract, nonconformance } from "../kit/documented-answers.ts"
import { operatorOf, ownPage, printedLink } from "./operator/operator.ts"

type Node = ReturnType<typeof JSON.parse>

let org: Tenant
let session: string
const app = withApp({
  settings: {
    RUNGATE_PUBLIC_URL: "https://openapi.example",
    RUNGATE_WARRANTY_SHARE: "1",
    RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64")
  }
})
beforeAll(async () => {
  org = await app.tenant("50.00")
  session = await org.session()
})

const account = { email: "jane@openapi.example", password: "correct horse battery", organization: "Acme" }
/** What each operation needs to succeed. An operation without a line here is asked with nothing. */
const redirect_uri = "https://agents.example/callback"
/** An agent's request to connect. */
const authorization = {
  response_type: "code",
  client_id: clientId({ client_name: "Agent", redirect_uris: [redirect_uri] }),
  redirect_uri,
  code_challenge: "a".repeat(43),
  code_challenge_method: "S256"
}
const bodies: Readonly<Record<string, unknown>> = {
  "runs.run": verify(),
  "history.batch": { subjects: ["nobody@nowhere.example"] },
  "discovery.discover": { query: "verify an e-mail address" },
  "catalog.inspect": { capability: "email.find" },
  "wallet.setGuard": {},
  "configuration.preview": { configuration: {} },
  "labelBudgets.set": { label: "customer", value: "openapi", limit: "1.00", period: "day" },
  "topups.checkout": { amount: "10.00" },
  "topups.setAutoTopup": { enabled: false, threshold: "5.00", amount: "10.00" },
  "keys.create": { name: "x", environment: "test" },
  "allowances.create": { name: "x", amount: "0.01", expires_at: new Date(Date.now() + 3_600_000).toISOString() },
  "quotes.quote": verify(),
  "simulations.simulate": { from: new Date(Date.now() - 86_400_000).toISOString() },
  "disputes.dispute": { reason: "bounced", evidence: "my mail server says so" },
  "keys.change": { name: "y" },
  "keys.rotate": { grace_seconds: 60 },
  "batches.create": { runs: [verify()] },
  "optOuts.add": { values: ["nobody@opted-out.example"] },
  "optOuts.check": { values: ["nobody@opted-out.example"] },
  "batches.retry": {},
  "webhooks.create": { url: "https://openapi.example/hooks", events: ["run.finished"] },
  "webhooks.change": { events: ["run.created"] },
  "webhooks.rotate": {},
  "webhooks.replayAll": { from: "2026-01-01T00:00:00Z" },
  "providerAccounts.set": { api_key: "a key of hunter", fallback: true },
  "approvals.addRule": { name: "y", active: false },
  "approvals.changeRule": { active: false },
  "approvals.approve": {},
  "approvals.decide": { decision: "deny", run_ids: ["run_x"] },
  "senders.add": { domain: "openapi.example" },
  "members.setRole": { role: "viewer" },
  "passkeys.rename": { name: "y" },
  "passkeys.start": { current_password: account.password },
  "invitations.create": { email: "joe@openapi.example", role: "viewer" },
  "auth.signUp": account,
  "browser.signUp": { ...account, email: "browser@openapi.example" },
  "browser.signIn": { email: account.email, password: account.password },
  "browser.switch": { organization_id: "org_unknown" },
  "auth.signIn": { email: account.email, password: account.password },
  "operatorOrganizations.credit": { type: "bonus", amount: "5.00", reference: "openapi-1", note: "Welcome" },
  "operatorOrganizations.setGuard": { daily_limit: "9.00" },
  "operatorImpersonation.begin": { reason: "The customer asked about a run" },
  "operatorDisputes.refuse": { note: "no proof" },
  "operatorDisputes.accept": { note: "seen the bounce" },
  "operatorOptOuts.add": { values: ["nobody@opted-out.example"] },
  "operatorOptOuts.check": { values: ["nobody@opted-out.example"] },
  "operatorInvitations.create": { email: "invited@openapi.example" }
}

const coveredMin = 80
const passkey_id = "psk_01m81nzk5dej20zws915h61fdz"

describe("T66 openapi.conformance", () => {
  test("operations succeed as documented, and none fails inside", async () => {
    const { operations, seen } = contract()
    // The sandbox calls it valid, so that it can be disputed.
    const { body: run } = await org.run(verify("bounce", "sandbox.test"))
    const { body: queued } = await org.run({ ...verify(), async: true })
    expect(queued.run_id).toStartWith("run_")
    const asks = { name: "asks", capabilities: ["email.find"] }
    expect((await app.call(session, "POST", "/v1/approval-rules", { body: asks })).status).toBe(200)
    const { body: waiting } = await org.run({
      capability: "email.find",
      input: { full_name: "A B", company_domain: "a.example" }
    })
    const { body: key } = await app.call(session, "POST", "/v1/api-keys", { body: bodies["keys.create"] })
    const statuses: Array<string> = []
    const { body: sender } = await app.call(session, "POST", "/v1/senders", { body: { domain: "other.example" } })
    const mine = await app.call(session, "GET", "/v1/auth/session")
    await org.session()
    const { body: people } = await app.call(session, "GET", "/v1/members")
    const member = people.items.find((one: { id: string }) => one.id !== mine.body.user.id)
    const asked = { email: "jim@openapi.example", role: "viewer" }
    const { body: invitation } = await app.call(session, "POST", "/v1/invitations", { body: asked })
    const hook = { body: { url: "https://hooks.openapi.example/", events: ["run.finished"] } }
    const { body: endpoint } = await app.call(session, "POST", "/v1/webhook-endpoints", hook)
    const { body: given } = await app.call(session, "POST", "/v1/allowances", { body: bodies["allowances.create"] })
    const budget = { body: { label: "team", limit: "1.00", period: "day" } }
    const { body: labelBudget } = await app.call(session, "PUT", "/v1/label-budgets", budget)
    const mineAtHunter = { body: bodies["providerAccounts.set"] }
    expect((await app.call(session, "PUT", "/v1/provider-accounts/hunter", mineAtHunter)).status).toBe(200)
    await app.sql("UPDATE users SET password_hash = $1 WHERE user_id = $2", [
      await Bun.password.hash(account.password),
      mine.body.user.id
    ])
    await app.sql(
      "INSERT INTO passkeys (passkey_id, user_id, credential_id, public_key, name, counter) VALUES ($1, $2, 'x', 'k', 'x', 0)",
      [passkey_id, mine.body.user.id]
    )
    const { body: started } = await app.call(session, "POST", "/v1/batches", { body: bodies["batches.create"] })
    const { body: rule } = await app.call(session, "POST", "/v1/approval-rules", { body: { name: "x", active: false } })
    await app.call(session, "POST", "/v1/opt-outs", { body: { values: ["left@opted-out.example"] } })
    const [optOut] = (await app.call(session, "GET", "/v1/opt-outs")).body.items
    // What ends the session, or the membership that others need, comes last.
    const ending = ["members.remove", "auth.signOut", "auth.endSessions", "operatorSession.signOut"]
    const inOrder = operations.toSorted((a, b) => ending.indexOf(a.id) - ending.indexOf(b.id))
    const operator = await operatorOf(app)
    const link = await printedLink(app)
    for (const { id, method, path } of inOrder) {
      const isOperators = id.startsWith("operator")
      const filled = path
        .replace("{run_id}", id.startsWith("approvals.") ? waiting.run_id : run.run_id)
        .replace("{key_id}", key.id)
        .replace("{allowance_id}", given.id)
        .replace("{sender_id}", sender.id)
        .replace("{endpoint_id}", endpoint.id)
        .replace("{batch_id}", started.id)
        .replace("{opt_out_id}", optOut.id)
        .replace("{member_id}", member.id)
        .replace("{invitation_id}", invitation.id)
        .replace("{approval_rule_id}", rule.id)
        .replace("{user_id}", member.id)
        .replace("{passkey_id}", passkey_id)
        .replace("{label_budget_id}", labelBudget.id)
        .replace("{provider}", "hunter")
        .replace("{org_id}", org.org_id)
      const query = id === "oauth.asked" ? `?${new URLSearchParams(authorization)}` : ""
      const asked =
        id.startsWith("history.") && method !== "POST" ? `${filled}?q=nobody@nowhere.example` : `${filled}${query}`
      const fromPage = id.startsWith("browser.") ? { origin: app.url, "x-rungate-console": "1" } : {}
      const headers = isOperators ? { ...ownPage(app), cookie: operator.cookie } : fromPage
      const filledBody =
        id === "oauth.decide" ? { ...authorization, organization_id: org.org_id, approve: true } : bodies[id]
      const body = id === "operatorSession.signIn" ? { token: link } : filledBody
      const csv = { raw: "value\ncsv@opted-out.example", headers: { ...headers, "content-type": "text/csv" } }
      const sent = /OptOuts\.import$/i.test(id) ? csv : { body, headers }
      const { status } = await app.call(isOperators ? null : session, method, asked, sent)
      statuses.push(`${id} ${status}`)
    }
    const succeeded = new Set([...seen.keys()].filter((one) => / 2\d\d$/.test(one)).map((one) => one.split(" ")[0]))
    // The others need more than an account, such as a run that still waits, and succeed in tests of their own.
    const missing = operations.map(({ id }) => id).filter((id) => !succeeded.has(id))
    const covered = Math.round(100 * (1 - missing.length / operations.length))
    expect([missing, covered >= coveredMin]).toEqual([missing, true])
    expect(statuses.filter((one) => / 5\d\d$/.test(one))).toEqual([])
    figures("T66 openapi.conformance", {
      operations: operations.length,
      succeeded: operations.length - missing.length,
      covered_percent: covered,
      kinds_of_answers: seen.size
    })
  })

  test("a method that is not documented is 405, and Allow names those that are", async () => {
    const { operations } = contract()
    let refused = 0
    for (const path of new Set(operations.map((one) => one.path))) {
      // A path with a parameter may also take a path without one, such as /v1/invitations/accept.
      const asked = path.replace(/\{[^}]+\}/g, "x")
      const takes = (one: string) => new RegExp(`^${one.replace(/\{[^}]+\}/g, "[^/]+")}$`).test(asked)
      const documented = operations.filter((one) => takes(one.path)).map(({ method }) => method)
      const allowed = documented.includes("GET") ? [...documented, "HEAD"] : documented
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((one) => !documented.includes(one))) {
        const { status, headers, body } = await app.call(org.key, method, asked)
        const allow = (headers.get("allow") ?? "").split(", ").sort()
        expect([method, path, status, allow, body.error.code]).toEqual([
          method,
          path,
          405,
          allowed.sort(),
          "method_not_allowed"
        ])
        refused += 1
      }
    }
    figures("T66 methods", { refused })
  })

  test("the document says what a reader needs of every operation, and its examples are valid", () => {
    const document = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: "api", components: document.components })
    const valid = (schema: object, value: unknown) => {
      const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')))
      return check(value) ? null : ajv.errorsText(check.errors)
    }
    const wrong: Array<string> = []
    const operations = Object.values<Node>(document.paths).flatMap((item) => Object.values<Node>(item))
    for (const { operationId: id, ...operation } of operations) {
      const say = (what: string) => wrong.push(`${id}: ${what}`)
      const statuses = Object.keys(operation.responses)
      if (!(operation.description?.length > 10) || !(operation.summary?.length > 0)) say("no description")
      if (operation.tags.length !== 1) say("no tag")
      if (!statuses.some((status) => status.startsWith("4"))) say("no 4xx")
      const content = operation.requestBody?.content
      const body = content?.["application/json"]
      if ((content !== undefined) !== statuses.includes("415")) say("415 goes with a body")
      if (body !== undefined && body.example === undefined) say("no example of the request")
      if (body !== undefined && valid(body.schema, body.example) !== null)
        say(`request: ${valid(body.schema, body.example)}`)
      for (const parameter of operation.parameters) if (parameter.description === undefined) say(parameter.name)
      for (const [status, response] of Object.entries<Node>(operation.responses)) {
        if (response.headers["x-request-id"] === undefined) say(`${status} without x-request-id`)
        if (status === "429" && response.headers["Retry-After"] === undefined) say("429 without Retry-After")
        const json = response.content?.["application/json"]
        const contents = ["text/event-stream", "application/x-ndjson", "application/jose", "text/csv"]
        const shown = json ?? contents.map((type) => response.content?.[type]).find((one) => one !== undefined)
        if (status.startsWith("2") && status !== "204" && shown?.example === undefined)
          say(`${status} without an example`)
        if (json?.example !== undefined) {
          const problem = valid(json.schema, json.example)
          if (problem !== null) say(`${status}: ${problem}`)
          if (/"resets_at":"(?!\d{4}-\d\d-\d\dT00:00:00)/.test(JSON.stringify(json.example)))
            say(`${status}: limits reset at midnight, UTC`)
        }
        if (JSON.stringify(json?.schema ?? {}).includes('"additionalProperties":false')) say(`${status} is closed`)
      }
    }
    expect(wrong).toEqual([])
    expect(document.servers.length).toBe(1)
    for (const tag of document.tags) expect(tag.description.length).toBeGreaterThan(5)
    const { schemas } = document.components
    expect(schemas.Wallet.additionalProperties).toBeUndefined()
    expect(schemas.RunRequest.additionalProperties).toBe(false)
    const { responses } = document.paths["/v1/run"].post
    for (const status of [200, 202, 402, 404, 409, 500, 502, 504])
      expect(JSON.stringify(responses[status].content)).toMatch(/schemas\/(Failed|Pending)?Run"/)
  })

  test("control: an answer that is not as documented is found", async () => {
    const wallet = await org.get("/v1/wallet")
    const asked = { method: "GET", path: "/v1/wallet" }
    const changed = (change: Partial<Reply>) => nonconformance({ ...asked, ...wallet, ...change })
    expect(changed({})).toBeNull()
    expect(changed({ body: { ...wallet.body, secret: 1 } })).toContain("additional properties")
    expect(changed({ body: { ...wallet.body, balance: 1 } })).not.toBeNull()
    expect(changed({ body: { ...wallet.body, balance: undefined } })).not.toBeNull()
    expect(changed({ body: undefined })).not.toBeNull()
    expect(changed({ status: 201 })).toContain("not documented")
    expect(changed({ headers: new Headers({ "content-type": "text/html" }) })).toContain("content type")
    expect(changed({ status: 503 })).not.toBeNull()
    expect(nonconformance({ method: "PUT", path: "/v1/wallet", ...wallet })).toContain("the status is 200")
  })
})

test("its prices are those of inspect", async () => {
  const { body: document } = await app.call(null, "GET", "/openapi.json")
  const { price, protocols, ...info } = document.paths["/v1/run"].post["x-payment-info"]
  expect(protocols).toEqual([])
  const prices: Readonly<Record<string, { min: string; max: string }>> = info["x-capability-prices"]
  const { body } = await app.call(org.key, "POST", "/v1/inspect", { body: { capability: "email.find" } })
  const amounts = body.offers.map((one: { price: { amount: string } }) => Number(one.price.amount))
  expect(prices["email.find"]?.min).toBe(body.starting_price.amount)
  expect(Number(prices["email.find"]?.max)).toBe(Math.max(...amounts))
  expect(price).toMatchObject({ mode: "dynamic", currency: "USD", min: "0.00" })
  expect(Number(price.max)).toBe(Math.max(...Object.values(prices).map(({ max }) => Number(max))))
})
