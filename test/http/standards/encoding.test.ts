/** Large answers are compressed for who accepts it, never what holds a secret; and documents are not sent twice. */
import { beforeAll, describe, expect, test } from "bun:test"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { codingFor, compressedFrom } from "../../../src/http/standards/Compression.ts"
import { type Tenant, verify, withApp } from "../../kit/app.ts"

let org: Tenant
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("200.00")
})

/** As it is on the wire. Without a coding of its own, fetch would accept all. */
const raw = (path: string, headers: Record<string, string>, body?: unknown, method = "GET") =>
  fetch(`${app.url}${path}`, {
    method: body === undefined ? method : "POST",
    decompress: false,
    headers: { "accept-encoding": "identity", "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
const bytes = async (answer: Response) => Buffer.from(await answer.arrayBuffer())
const mine = () => ({ authorization: `Bearer ${org.key}` })

describe("compression", () => {
  test("the best coding that the client takes", () => {
    const cases: ReadonlyArray<readonly [string | null, string | null]> = [
      [null, null],
      ["", null],
      ["identity", null],
      ["gzip, deflate, br", "br"],
      ["GZIP", "gzip"],
      ["br;q=0, gzip;q=0.5", "gzip"],
      ["br; q=0.000,gzip; q=0", null],
      ["brotli, xgzip", null]
    ]
    for (const [accepts, coding] of cases) expect([accepts, codingFor(accepts)]).toEqual([accepts, coding])
  })

  test("lists, documents and errors say the same in every coding", async () => {
    for (const path of ["/openapi.json", "/docs/reference.js", "/llms.txt", "/problems", "/v1/catalog/providers"]) {
      const plain = await raw(path, {})
      const text = await bytes(plain)
      expect([path, plain.headers.get("content-encoding")]).toEqual([path, null])
      expect(plain.headers.get("vary")).toContain("accept-encoding")
      for (const [coding, decoded] of [
        ["br", brotliDecompressSync],
        ["gzip", gunzipSync]
      ] as const) {
        const packed = await raw(path, { "accept-encoding": coding })
        const sent = await bytes(packed)
        expect([path, packed.headers.get("content-encoding")]).toEqual([path, coding])
        expect(packed.headers.get("content-type")).toBe(plain.headers.get("content-type"))
        expect(packed.headers.get("content-length")).toBe(String(sent.byteLength))
        expect(packed.headers.get("vary")).toContain("accept-encoding")
        expect(packed.headers.get("x-request-id")).toMatch(/^req_/)
        expect(sent.byteLength).toBeLessThan(text.byteLength / 2)
        expect(decoded(sent).equals(text)).toBe(true)
        const head = await raw(path, { "accept-encoding": coding }, undefined, "HEAD")
        expect(head.headers.get("content-length")).toBe(String(sent.byteLength))
      }
    }
  })

  test("a large result of a run, waited for or read, and nothing small", async () => {
    const search = {
      capability: "people.search",
      input: { titles: ["head of sales"], company_domains: ["example.com"], limit: 60 }
    }
    const large = await raw("/v1/run", { ...mine(), "accept-encoding": "gzip" }, search)
    expect([large.status, large.headers.get("content-encoding")]).toEqual([200, "gzip"])
    const run = JSON.parse(gunzipSync(await bytes(large)).toString())
    expect(run).toMatchObject({ status: "succeeded", run_id: large.headers.get("run-id") })
    for (const path of [`/v1/runs/${run.run_id}`, `/v1/runs/${run.run_id}?wait=1`]) {
      const again = await raw(path, { ...mine(), "accept-encoding": "br" })
      expect([path, again.headers.get("content-encoding")]).toEqual([path, "br"])
      expect(JSON.parse(brotliDecompressSync(await bytes(again)).toString()).result).toEqual(run.result)
    }
    const small = await raw("/v1/run", { ...mine(), "accept-encoding": "br, gzip" }, verify())
    const text = await bytes(small)
    expect([small.status, small.headers.get("content-encoding")]).toEqual([200, null])
    expect(text.byteLength).toBeLessThan(compressedFrom)
  })

  test("never the keys that an applied configuration makes", async () => {
    const authorization = `Bearer ${await org.session()}`
    const keys = Array.from({ length: 8 }, (_, at) => ({ name: `a key of a configuration, number ${at}` }))
    const exported = await app.call(authorization.slice(7), "GET", "/v1/configuration")
    const answer = await fetch(`${app.url}/v1/configuration`, {
      method: "PUT",
      decompress: false,
      headers: { authorization, "accept-encoding": "br, gzip", "content-type": "application/json" },
      body: JSON.stringify({ configuration: { keys }, digest: exported.body.digest })
    })
    const sent = await bytes(answer)
    expect([answer.status, answer.headers.get("content-encoding")]).toEqual([200, null])
    expect(sent.byteLength).toBeGreaterThan(compressedFrom)
    expect(sent.toString()).toContain("rg_test_")
  })

  test("never what may hold a secret, and no stream", async () => {
    const session = await org.session()
    const accepts = { "accept-encoding": "br, gzip" }
    const names = Array.from({ length: 12 }, (_, at) => `a key with a long name, number ${at}`)
    await Promise.all(
      names.map((name) => app.call(session, "POST", "/v1/api-keys", { body: { name, environment: "test" } }))
    )
    const closed = async (path: string, headers: Record<string, string>) => {
      const answer = await raw(path, { ...headers, ...accepts })
      const coding = answer.headers.get("content-encoding")
      const type = answer.headers.get("content-type") ?? ""
      const length = type === "text/event-stream" ? null : (await bytes(answer)).byteLength
      if (length === null) await answer.body?.cancel()
      return { coding, type, length: length ?? compressedFrom }
    }
    const keys = await closed("/v1/api-keys", { authorization: `Bearer ${session}` })
    expect(keys).toMatchObject({ coding: null, type: "application/json" })
    expect(keys.length).toBeGreaterThan(compressedFrom)
    const cookie = await closed("/v1/catalog/providers", { cookie: "__Host-rungate_session=x" })
    expect(cookie.coding).toBe(null)
    expect(cookie.length).toBeGreaterThan(compressedFrom)
    const form = await closed("/reset-password?token=x", {})
    expect([form.coding, form.type]).toEqual([null, "text/html; charset=utf-8"])
    const stream = await closed("/v1/events", mine())
    expect([stream.coding, stream.type]).toEqual([null, "text/event-stream"])
  })
})

describe("ETags", () => {
  test("documents are sent once, in whatever coding", async () => {
    for (const path of ["/openapi.json", "/docs", "/docs/api", "/docs/reference.js", "/docs/api.md", "/llms.txt"]) {
      const first = await raw(path, { "accept-encoding": "br" })
      const etag = first.headers.get("etag") ?? ""
      expect(etag).toMatch(/^W\/".+"$/)
      expect(first.headers.get("cache-control")).toMatch(/^public, max-age=/)
      for (const known of [etag, etag.slice("W/".length), `"other", ${etag}`, "*"]) {
        const again = await raw(path, { "if-none-match": known })
        expect([path, again.status, await again.text()]).toEqual([path, 304, ""])
        expect(again.headers.get("etag")).toBe(etag)
        expect(again.headers.get("vary")).toContain("accept-encoding")
      }
      expect((await raw(path, { "if-none-match": '"other"' })).status).toBe(200)
    }
    expect((await raw("/docs/nothing.md", { "if-none-match": "*" })).status).toBe(404)
  })
})
