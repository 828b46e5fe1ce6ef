/** What the service says about a request that it refuses: the cause, the place and the nearest valid name. */
import { beforeAll, describe, expect, test } from "bun:test"
import { acme, documentOf, endpointOf } from "../kit/provider-documents.ts"
import { type App, startApp, type Tenant, verify, withApp } from "../kit/app.ts"

let org: Tenant
const app = withApp()
beforeAll(async () => {
  await app.catalog(acme)
  org = await app.tenant("5.00")
})

const send = (raw: string) => org.post("/v1/run", undefined, { raw, headers: { "content-type": "application/json" } })

describe("a body that is not JSON", () => {
  test.each([
    ['{"capability": "email.find",}', "line 1, column 29: expected a field name in double quotes"],
    ['{\n  "capability": "email.find"\n  "input": {}\n}', "line 3, column 3: expected a comma or }"],
    ["nul", "line 1, column 1: expected a value"],
    ["{", "line 1, column 2: expected a field name in double quotes"]
  ])("%j", async (raw, where) => {
    const { status, body } = await send(raw)
    const message = `is not valid JSON at ${where}`
    expect([status, body.error]).toEqual([
      400,
      { code: "invalid_request", message: `The request body ${message}.`, details: [{ path: "", message }] }
    ])
  })

  test("an empty one", async () => {
    const { body } = await send("")
    expect(body.error.message).toBe("The request body is empty. Send a JSON object.")
  })
})

describe("an unknown name", () => {
  test("of a field", async () => {
    const message = "Unknown field `capabilty`. Did you mean `capability`?"
    const { status, body } = await org.run({ capabilty: "email.find", input: {} })
    expect([status, body.error]).toEqual([
      400,
      { code: "invalid_request", message, details: [{ path: "capabilty", message }] }
    ])
  })

  test("of a nested field, among other mistakes", async () => {
    const { body } = await org.run({ ...verify(), routing: { maxcost: "1.00" }, wait_seconds: -1 })
    expect(body.error.details).toEqual(
      expect.arrayContaining([
        { path: "routing.maxcost", message: "Unknown field `maxcost`. Did you mean `max_cost`?" },
        { path: "wait_seconds", message: expect.any(String) }
      ])
    )
  })

  test("of a field that no name is near to", async () => {
    const { body } = await org.run({ ...verify(), weather: 1 })
    expect(body.error.message).toBe("Unknown field `weather`. A field of the capability belongs inside `input`.")
  })

  test("of a field of a capability's input, which is said before what else the input needs", async () => {
    const { status, body } = await org.run({ capability: "email.find", input: { fullname: "Ada Lovelace" } })
    const message = "is not a known field. Did you mean `full_name`?"
    expect([status, body.error.code, body.error.message]).toEqual([400, "invalid_request", `input.fullname ${message}`])
    expect(body.error.details).toEqual([
      { path: "input.fullname", message },
      { path: "input", message: expect.stringMatching(/^needs full_name \+ /) }
    ])
  })

  test("of a field of a raw request: its body, its query and its path", async () => {
    const closed = (name: string) => ({
      type: "object",
      properties: { [name]: { type: "string" } },
      additionalProperties: false
    })
    const path_params = { ...closed("company"), required: ["company"] }
    await app.catalog(
      documentOf("strict", [
        endpointOf({ path: "/closed", method: "POST", body: closed("keyword"), query_params: closed("country") }),
        endpointOf({ path: "/of/{company}", path_params, query_params: closed("country") })
      ])
    )
    const messageOf = async (body: Record<string, unknown>) => {
      const { status, body: answer } = await org.run({ provider: "strict", input: {}, ...body })
      return [status, answer.error.message]
    }
    expect(await messageOf({ endpoint: "/closed", input: { keywrod: "x" } })).toEqual([
      400,
      "input.keywrod is not a known field. Did you mean `keyword`?"
    ])
    expect(await messageOf({ endpoint: "/closed", query: { contry: "x" } })).toEqual([
      400,
      "query.contry is not a known field. Did you mean `country`?"
    ])
    expect(await messageOf({ endpoint: "/of/{company}", path: { compnay: "x" } })).toEqual([
      400,
      "path.compnay is not a placeholder of this endpoint. Did you mean `company`?"
    ])
  })

  const long = "x".repeat(500_000)
  test.each([
    ["very long", long, "x".repeat(100)],
    ["of control characters", "full\u001b[2J\u202ename", "full [2J name"],
    ["__proto__", "__proto__", "__proto__"],
    ["constructor", "constructor", "constructor"]
  ])("that is hostile is shown short and printable: %s", async (_, name, shown) => {
    const member = `{${JSON.stringify(name)}:1}`
    const inInput = await send(`{"capability":"email.find","input":${member}}`)
    const inBody = await send(`{"capability":"email.find","input":{},"routing":${member}}`)
    for (const { status, text, body } of [inInput, inBody]) {
      expect(status).toBe(400)
      expect(text.length).toBeLessThan(2_000)
      expect(body.error.message).toContain(shown)
      expect(body.error.message).not.toMatch(/[\p{Cc}\u202e]/u)
    }
  })

  test("of a hundred thousand fields is twenty details", async () => {
    const members = Array.from({ length: 50_000 }, (_, n) => `"full_nam${n}":1`).join()
    for (const text of [
      `{"capability":"email.find","input":{${members}}}`,
      `{"capability":"email.find","input":{},${members}}`
    ]) {
      const { status, body } = await send(text)
      expect([status, body.error.details.length]).toEqual([400, 20])
    }
  })

  test("of a query parameter", async () => {
    const { body } = await org.get("/v1/runs?limt=5")
    expect(body.error.details).toEqual([
      { path: "query.limt", message: "Unknown query parameter `limt`. Did you mean `limit`?" }
    ])
  })

  test.each(["run", "inspect"])("of a capability, a provider or an endpoint, to %s", async (action) => {
    const input = action === "run" ? { input: {} } : {}
    const ask = async (body: object) => {
      const { status, body: answer } = await org.post(`/v1/${action}`, { ...body, ...input })
      return [status, answer.error.code, answer.error.message]
    }
    expect(await ask({ capability: "email.fnd" })).toEqual([
      404,
      "capability_not_found",
      expect.stringContaining('There is no capability "email.fnd". Did you mean `email.find`? ')
    ])
    expect(await ask({ provider: "huntr", endpoint: "/v2/x" })).toEqual([
      404,
      "endpoint_not_found",
      expect.stringContaining('There is no provider "huntr". Did you mean `hunter`? ')
    ])
    const path = acme.endpoints[0]?.path ?? ""
    expect(await ask({ provider: acme.provider, endpoint: `${path}x` })).toEqual([
      404,
      "endpoint_not_found",
      expect.stringContaining(`Did you mean \`${path}\`? `)
    ])
  })

  test("of a provider, to discover, to the catalog and to routing", async () => {
    const suggested = expect.stringContaining("Did you mean `hunter`? ")
    const discovered = await org.post("/v1/discover", { query: "verify", provider: "huntr" })
    expect([discovered.status, discovered.body.error.message]).toEqual([404, suggested])
    const shown = await org.get("/v1/catalog/providers/huntr")
    expect([shown.status, shown.body.error.message]).toEqual([404, suggested])
    const routed = await org.run({ ...verify(), routing: { provider: "huntr" } })
    expect([routed.status, routed.body.error.message]).toEqual([400, suggested])
  })
})

describe("a credential", () => {
  const refused = async (at: App, token: string | null) => {
    const { status, body } = await at.call(token, "GET", "/v1/wallet")
    expect([status, body.error.code, Object.keys(body).sort()]).toEqual([401, "unauthorized", ["error", "request_id"]])
    return body.error.message
  }
  const secret = "a".repeat(43)

  test("has a message per cause, and one for unknown and revoked keys", async () => {
    const session = await org.session()
    const made = await app.call(session, "POST", "/v1/api-keys", { body: { name: "x", environment: "test" } })
    await app.call(session, "DELETE", `/v1/api-keys/${made.body.id}`)
    expect(await refused(app, null)).toStartWith("The request has no credential.")
    expect(await refused(app, "sk_123")).toStartWith("This is not a token of this service.")
    expect(await refused(app, `rg_test_${"a".repeat(200)}`)).toStartWith("This is not a token of this service.")
    expect(await refused(app, `rg_live_${secret}`)).toStartWith(
      "This is a live key (rg_live_), and this service is a sandbox."
    )
    const unknown = await refused(app, `rg_test_${secret}`)
    expect(unknown).toStartWith("This API key is unknown, revoked or expired.")
    expect(await refused(app, made.body.api_key)).toBe(unknown)
    expect(await refused(app, `rg_sess_${secret}`)).toStartWith(
      "This session token is unknown, or the session has ended."
    )
  })

  test("of the sandbox is refused as such in production", async () => {
    const production = await startApp({ settings: { RUNGATE_MODE: "production" } })
    try {
      const message = await refused(production, `rg_test_${secret}`)
      expect(message).toStartWith("This is a test key (rg_test_), and this service is in production.")
      expect(await refused(production, `rg_live_${secret}`)).toStartWith("This API key is unknown, revoked or expired.")
    } finally {
      await production.stop()
    }
  })
})
