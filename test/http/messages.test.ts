/** What the service says about a request that it refuses: the cause, the place and the nearest valid name. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { acme } from "../documents.ts"
import { type App, startApp, type Tenant, verify } from "../app.ts"

let app: App
let org: Tenant
beforeAll(async () => {
  app = await startApp()
  await app.catalog(acme)
  org = await app.tenant("5.00")
})
afterAll(() => app.stop())

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
    expect(body.error.message).toBe("Unknown field `weather`.")
  })

  test("of a query parameter", async () => {
    const { body } = await org.get("/v1/runs?limt=5")
    expect(body.error.details).toEqual([
      { path: "query.limt", message: "Unknown query parameter `limt`. Did you mean `limit`?" }
    ])
  })

  test.each(["run", "inspect"])("of a capability, a provider or an endpoint, to %s", async (door) => {
    const input = door === "run" ? { input: {} } : {}
    const ask = async (body: object) => {
      const { status, body: answer } = await org.post(`/v1/${door}`, { ...body, ...input })
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
    expect(await refused(app, null)).toStartWith("There is no credential.")
    expect(await refused(app, "sk_123")).toStartWith("This is not a token of this service.")
    expect(await refused(app, `rg_test_${"a".repeat(200)}`)).toStartWith("This is not a token of this service.")
    expect(await refused(app, `rg_live_${secret}`)).toStartWith(
      "This is a live key (rg_live_), and this service is a sandbox."
    )
    const unknown = await refused(app, `rg_test_${secret}`)
    expect(unknown).toStartWith("This API key is unknown or revoked.")
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
      expect(await refused(production, `rg_live_${secret}`)).toStartWith("This API key is unknown or revoked.")
    } finally {
      await production.stop()
    }
  })
})
