/**
 * `POST /v1/run` has two ways into the process: a door for ordinary requests, and the general router for all others. Nobody may see by which
 * of them a request was answered. A body of known length is an ordinary request, and the same body in chunks is not.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { digest } from "../../src/layers/accounts/Secrets.ts"
import { type App, startApp, type Tenant, verify } from "../kit/app.ts"
import { acme } from "../kit/provider-documents.ts"

let app: App
let rich: Tenant
let poor: Tenant
let session: string
let viewer: string
beforeAll(async () => {
  app = await startApp()
  await app.catalog(acme)
  rich = await app.tenant("10.00")
  poor = await app.tenant()
  ;[session, viewer] = [await rich.session(), await rich.session()]
  const ofViewer = "SELECT user_id FROM sessions WHERE token_hash = $1"
  await app.sql(`UPDATE members SET role = 'viewer' WHERE user_id = (${ofViewer})`, [Buffer.from(digest(viewer))])
})
afterAll(async () => {
  expect(app.logs.filter((line) => line.startsWith("Error"))).toEqual([])
  await app.books()
  await app.stop()
})

const bytes = (text: string) => new TextEncoder().encode(text)
const inChunks = (body: Uint8Array) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(body.subarray(0, 1))
      controller.enqueue(body.subarray(1))
      controller.close()
    }
  })

/** What differs between any two runs. */
const ids = /\b(run|req|txn)_[0-9a-z]{26}\b/g
const moments = /\d{4}-\d\d-\d\dT[\d:.]+Z/g
const durations = /"duration_ms":\d+/g
const alike = (text: string) =>
  text.replaceAll(ids, "$1_*").replaceAll(moments, "<time>").replaceAll(durations, '"duration_ms":0')

/** Bun says of a body in chunks that the connection stays open; the run does not. */
const ofTransport = new Set(["date", "content-length", "connection", "keep-alive", "transfer-encoding"])

const ask = async (url: string, key: string, body: Uint8Array, headers: Record<string, string>, chunked: boolean) => {
  const response = await fetch(`${url}/v1/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: chunked ? inChunks(body) : new Blob([new Uint8Array(body)])
  })
  const shown = [...response.headers]
    .filter(([name]) => !ofTransport.has(name))
    .map(([name, value]) => [name, name === "wallet-available" ? "<amount>" : alike(value)])
  return { status: response.status, headers: Object.fromEntries(shown), text: alike(await response.text()) }
}
/** Both answers to a request. A header "*" stands for what the two must not share. */
const both = async (tenant: Tenant, body: string | Uint8Array, headers: Record<string, string> = {}) => {
  const sent = typeof body === "string" ? bytes(body) : body
  const named = (way: string) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace("*", way)]))
  const door = await ask(app.url, tenant.key, sent, named("door"), false)
  return { door, router: await ask(app.url, tenant.key, sent, named("router"), true) }
}

const json = (value: unknown) => JSON.stringify(value)
const deep = `${"[".repeat(70)}${"]".repeat(70)}`
const raw = (input: string) => `{"provider":"acme","endpoint":"/search","input":${input}}`

describe("the two ways into POST /v1/run answer alike", () => {
  const cases: ReadonlyArray<
    readonly [name: string, status: number, body: string | Uint8Array, headers?: Record<string, string>]
  > = [
    ["a run", 200, json(verify())],
    ["a run with a key", 200, json(verify()), { "idempotency-key": "first-*" }],
    ["a preference", 200, json(verify()), { prefer: "wait=20" }],
    ["a preference that the body overrides", 200, json({ ...verify(), wait_seconds: 20 }), { prefer: "wait=0" }],
    ["a run with a quoted key", 200, json(verify()), { "idempotency-key": '"quoted-*"' }],
    ["raw output", 200, json({ ...verify(), response: { include_raw: true } })],
    ["metadata", 200, json({ ...verify(), metadata: { campaign: "spring" } })],
    ["metadata that is no text", 400, json({ ...verify(), metadata: { campaign: 7 } })],
    ["metadata with a bad key", 400, json({ ...verify(), metadata: { "a b": "x" } })],
    ["null fields", 200, json({ ...verify(), routing: null, response: null, provider: null })],
    ["a raw endpoint, its input byte for byte", 200, raw('{ "filter" : {"field": "it\\u0027s"} }')],
    ["a bad Idempotency-Key", 400, json(verify()), { "idempotency-key": "a b" }],
    ["an unknown capability", 404, json({ capability: "email.fnd", input: {} })],
    ["an unknown endpoint", 404, json({ provider: "acme", endpoint: "/serch", input: {} })],
    ["a bad input", 400, json({ capability: "email.verify", input: { email: 3 } })],
    ["a pinned provider that does not serve it", 400, json({ ...verify(), routing: { provider: "serper" } })],
    ["a cap below every price", 409, json({ ...verify(), routing: { max_cost: "0.000001" } })],
    ["an unknown field", 400, json({ ...verify(), max_cost: "1" })],
    ["two targets", 400, json({ ...verify(), provider: "acme", endpoint: "/search" })],
    ["no target", 400, "{}"],
    ["no JSON", 400, '{"capability": "email.verify",'],
    ["an array", 400, "[]"],
    ["a deep body", 400, `{"capability":"email.verify","input":${deep}}`],
    ["a NUL", 400, '{"capability":"email.verify","input":{"email":"a\\u0000@example.com"}}'],
    ["no body", 400, ""],
    ["several wrong fields", 400, json({ capability: 3, inputs: {}, routing: { max_cost: 1, via: "x" } })],
    [
      "bytes in a text that are no UTF-8",
      404,
      new Uint8Array([...bytes('{"capability":"'), 0xff, ...bytes('","input":{}}')])
    ],
    ["bytes that are no UTF-8", 400, new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ["a byte order mark", 200, new Uint8Array([0xef, 0xbb, 0xbf, ...bytes(json(verify()))])],
    ["a large body, which counts as two requests", 400, json({ ...verify(), input: { email: "x".repeat(40_000) } })],
    ["another type", 415, json(verify()), { "content-type": "text/plain" }],
    ["a type with parameters", 200, json(verify()), { "content-type": "Application/JSON; charset=utf-8" }],
    ["an error as problem+json", 404, json({ capability: "x", input: {} }), { accept: "application/problem+json" }],
    ["a lower-case scheme", 200, json(verify()), { authorization: "bearer KEY" }],
    ["no credential", 401, json(verify()), { authorization: "" }],
    ["a token of another form", 401, json(verify()), { authorization: "Bearer secret" }],
    ["an unknown key", 401, json(verify()), { authorization: `Bearer rg_test_${"0".repeat(40)}` }],
    ["a key of another environment", 401, json(verify()), { authorization: `Bearer rg_live_${"0".repeat(40)}` }],
    ["an ended session", 401, json(verify()), { authorization: `Bearer rg_sess_${"0".repeat(40)}` }],
    ["a session", 200, json(verify()), { authorization: "Bearer SESSION" }],
    ["a viewer's session", 403, json(verify()), { authorization: "Bearer VIEWER" }]
  ]
  test.each(cases)("%s", async (_name, status, body, headers = {}) => {
    const withKey = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        value.replace("KEY", rich.key).replace("SESSION", session).replace("VIEWER", viewer)
      ])
    )
    const { door, router } = await both(rich, body, withKey)
    expect(door).toEqual(router)
    expect(door.status).toBe(status)
  })

  test("an asynchronous run, which may have begun by the time of the answer", async () => {
    const { door, router } = await both(rich, json({ ...verify(), async: true, wait_seconds: 5 }))
    expect([door.status, door.headers]).toEqual([202, router.headers])
  })

  test("an empty wallet", async () => {
    const { door, router } = await both(poor, json(verify()))
    expect(door).toEqual(router)
    expect(door.status).toBe(402)
  })

  test("a key that was used for another request, and a repeat", async () => {
    for (const email of ["ada", "bob", "ada"])
      expect(await both(rich, json(verify(email)), { "idempotency-key": "shared-*" })).toSatisfy(({ door, router }) =>
        Bun.deepEquals(door, router)
      )
    const { door } = await both(rich, json(verify("bob")), { "idempotency-key": "shared-*" })
    expect([door.status, door.text.includes("idempotency_key_reused")]).toEqual([422, true])
  })

  test("a revoked key", async () => {
    const gone = await app.tenant("1.00")
    await both(gone, json(verify()))
    await app.sql("UPDATE api_keys SET revoked_at = now() WHERE key_id = $1", [gone.key_id])
    const { door, router } = await both(gone, json(verify()))
    expect(door).toEqual(router)
    expect(door.status).toBe(401)
  })
})

test("a request takes one from its key's limit, whichever way it takes", async () => {
  const limited = await startApp({ settings: { RUNGATE_RATE_LIMIT: "5" } })
  try {
    const tenant = await limited.tenant("10.00")
    const remaining: Array<number> = []
    const bodies = [json(verify()), "{}", json(verify()), "no json", json(verify("bob"))]
    for (const body of bodies) {
      const { headers } = await ask(limited.url, tenant.key, bytes(body), {}, false)
      remaining.push(Number(/r=(\d+)/.exec(headers["ratelimit"] ?? "")?.[1]))
    }
    // The bucket of 10 refills while the test runs, so what is left may be more than without a refill, and never less.
    for (const [at, left] of remaining.entries()) expect(left).toBeGreaterThanOrEqual(9 - at)
    expect(remaining.at(0)).toBe(9)
    const many = await Promise.all(
      Array.from({ length: 40 }, () => ask(limited.url, tenant.key, bytes("{}"), {}, false))
    )
    const refused = many.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(20)
    for (const { headers, text } of refused) {
      expect(headers["retry-after"]).toMatch(/^\d+$/)
      expect(text).toContain('"code":"rate_limited"')
    }
    await limited.books()
  } finally {
    await limited.stop()
  }
})
