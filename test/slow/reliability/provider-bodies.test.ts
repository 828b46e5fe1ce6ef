/**
 * T35 and T36: answers that are too much, and answers that are no data. A process takes none of the first, stands still for
 * none of them, and nobody pays for the second; what is data reaches the caller as the provider wrote it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { replyBytesMax } from "../../../src/layers/executor/ProviderResponse.ts"
import { depthMax } from "../../../src/layers/runs/JsonWeight.ts"
import fc from "fast-check"
import { figures, withApp } from "../../kit/app.ts"
import { acme } from "../../kit/provider-documents.ts"
import { type Executor, providerOf, secret, startExecutor } from "../../reliability/executor.ts"
import { bodies, type Hostile, large, startHostile } from "../../reliability/hostile.ts"

const mebibyte = 2 ** 20
/** A busy machine stalls a process by itself; what is looked for is a bomb that blocks it. The figure is printed. */
const stallMillisMax = 5_000

let hostile: Hostile
let executor: Executor
beforeAll(async () => {
  hostile = await startHostile()
  executor = await startExecutor({ hostile: hostile.url, large: hostile.url })
})
afterAll(async () => {
  await executor.stop()
  await hostile.stop()
})

/** The most memory that this process took above what it had, and the longest that it stood still. */
const watched = async <A>(work: () => Promise<A>) => {
  Bun.gc(true)
  const before = process.memoryUsage().rss
  let most = before
  let stall = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    stall = Math.max(stall, now - last)
    last = now
    most = Math.max(most, process.memoryUsage().rss)
  }, 2)
  const value = await work()
  stall = Math.max(stall, performance.now() - last)
  most = Math.max(most, process.memoryUsage().rss)
  clearInterval(timer)
  return { value, grown: Math.round((most - before) / mebibyte), stall: Math.round(stall) }
}

const patient = { timeoutMillis: 10_000 }

describe("T35 provider.huge_body", () => {
  const found: Array<{ name: string; grown: number; stall: number }> = []

  test("the server is ready with its gigabyte", async () => {
    const { answer } = await executor.callRaw(providerOf("hostile", patient), { path: "/gzip-bomb" })
    expect(answer).toMatchObject({ _tag: "Failure", detail: expect.stringContaining("larger than") })
  })

  test.each(Object.keys(bodies))("%s is refused", async (name) => {
    const one = providerOf("hostile", patient, { path: `/${name}` })
    const { value, grown, stall } = await watched(() => executor.call(one))
    found.push({ name, grown, stall })
    if (value.answer._tag !== "Failure") throw new Error(`${name} was taken for ${value.answer._tag}`)
    expect(value.answer.detail).toMatch(/larger than|nested deeper|more values/)
    expect(value.raw).toBeNull()
    expect(grown).toBeLessThan(replyBytesMax / mebibyte + 256)
    expect(stall).toBeLessThan(stallMillisMax)
    const raw = await executor.callRaw(one, { path: `/${name}` })
    expect(raw.answer).toMatchObject({ _tag: "Failure", reason: value.answer.reason, detail: value.answer.detail })
  })

  test.each(Object.keys(large))("%s is taken", async (name) => {
    const one = providerOf("large", patient, { path: `/${name}` })
    const { value, grown, stall } = await watched(() => executor.callRaw(one, { path: `/${name}` }))
    found.push({ name, grown, stall })
    expect(value.answer._tag).toBe("Delivered")
    expect(stall).toBeLessThan(stallMillisMax)
  })

  afterAll(() => {
    figures("T35 provider.huge_body", {
      cases: found.length,
      max_rss_grown_mb: Math.max(...found.map(({ grown }) => grown)),
      max_stall_ms: Math.max(...found.map(({ stall }) => stall)),
      cap_mb: replyBytesMax / mebibyte,
      depth_max: depthMax
    })
  })
})

/** What the server of these tests answers next. */
interface Played {
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly type: string | null
  readonly status: number
}
let played: Played = { body: "", type: null, status: 200 }
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () =>
    new Response(typeof played.body === "string" ? new TextEncoder().encode(played.body) : played.body, {
      status: played.status,
      headers: played.type === null ? {} : { "content-type": played.type }
    })
})
afterAll(() => server.stop(true))

describe("T36 provider.invalid_json", () => {
  let plain: Executor
  beforeAll(async () => {
    plain = await startExecutor({ plain: `http://127.0.0.1:${server.port}` })
  })
  afterAll(() => plain.stop())

  const one = providerOf("plain", patient)
  const json = "application/json"
  const ask = async (
    body: Played["body"],
    type: string | null = json,
    status = 200,
    method: "GET" | "DELETE" = "GET"
  ) => {
    played = { body, type, status }
    const [normal, raw] = await Promise.all([plain.call(one), plain.callRaw(one, { method })])
    return { answer: normal.answer, payload: normal.raw, raw: raw.answer }
  }
  const crashes = () => plain.logs.filter((line) => /adapter failed/.test(line))
  const page = "<!doctype html><html><body>Scheduled maintenance</body></html>"

  const broken: ReadonlyArray<readonly [string, Played["body"], string | null]> = [
    ["a page", page, "text/html; charset=utf-8"],
    ["a page that says it is JSON", page, json],
    ["nothing", "", json],
    ["nothing of no type", "", null],
    ["spaces", " \r\n ", json],
    ["NaN", '{"ok":true,"score":NaN}', json],
    ["Infinity", '{"ok":true,"score":-Infinity}', json],
    ["undefined", "undefined", json],
    ["truncated in an object", '{"ok":true,"list":[{"a":1},{"b":', json],
    ["truncated in a string", '{"ok":true,"name":"Jan', json],
    ["truncated in a character", Buffer.from('{"ok":true,"name":"Z\u00fc"}').subarray(0, 21), json],
    ["two values", '{"ok":true}{"ok":true}', json],
    ["a value and a line", '{"ok":true}\n{"ok":true}', "application/vnd.acme+json"],
    ["single quotes", "{'ok':true}", json],
    ["a comment", '{"ok":true}// yes', json],
    ["a trailing comma", '{"ok":true,}', json],
    ["a control character in a string", '{"ok":true,"a":"\u0000"}', json],
    ["a NUL at the end", '{"ok":true}\u0000', json],
    ["hexadecimal", '{"ok":true,"a":0x10}', json],
    ["a prefix against reading", ')]}\',\n{"ok":true}', json],
    ["a callback", 'callback({"ok":true})', json],
    ["a byte that is no UTF-8", Buffer.from([...Buffer.from('{"ok":true,"a":"'), 0xff, 0x22, 0x7d]), json],
    [
      "half a character in UTF-8",
      Buffer.from([...Buffer.from('{"ok":true,"a":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d]),
      json
    ],
    ["an overlong slash", Buffer.from([...Buffer.from('{"ok":true,"a":"'), 0xc0, 0xaf, 0x22, 0x7d]), json],
    ["Latin-1 of no type", Buffer.from('{"ok":true,"name":"Z\u00fcrich"}', "latin1"), null],
    ["UTF-16", Buffer.from('\ufeff{"ok":true}', "utf16le"), json]
  ]
  test.each(broken)(
    "%s is a failure of the provider, for a capability and for a raw call",
    async (_name, body, type) => {
      const { answer, payload, raw } = await ask(Uint8Array.from(Buffer.from(body)), type)
      expect(answer).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
      expect(payload).toBeNull()
      expect(raw).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
      expect(crashes()).toEqual([])
    }
  )

  const odd: ReadonlyArray<readonly [string, string]> = [
    ["a list", "[]"],
    ["null", "null"],
    ["a number", "7"],
    ["text", '"ok"'],
    ["another type in the field", '{"ok":{"ok":true}}'],
    ["a field of the prototype", '{"__proto__":{"ok":true}}'],
    ["a list of itself", '[{"ok":true}]'],
    ["the field as a list", '{"ok":[true]}']
  ]
  test.each(odd)(
    "%s is JSON, so a raw call delivers it, and a capability that can't read it fails",
    async (_name, body) => {
      const { answer, raw } = await ask(body)
      expect(answer).toEqual({ _tag: "Failure", reason: "invalid_response", detail: "the answer has no readable ok" })
      expect(raw).toEqual({ _tag: "Delivered", data: body, measured: null })
      expect(crashes()).toEqual([])
    }
  )

  const untouched: ReadonlyArray<readonly [string, string]> = [
    ["a name twice: the last one counts", '{"ok":false,"ok":true}'],
    ["numbers beyond ours", '{"ok":true,"id":12345678901234567890,"n":1.0,"z":-0,"e":1e999}'],
    ["spaces and lines", ' {\r\n\t"ok" : true }\n'],
    ["escapes", '{"ok":true,"a":"\\u0000\\ud800\\u00e9\\/"}'],
    ["every plane", '{"ok":true,"a":"\u00e9\u20ac\ud83d\ude00\ufeff\u2028"}'],
    ["names of the prototype", '{"ok":true,"__proto__":{"toString":null},"constructor":1}']
  ]
  test.each(untouched)("%s is delivered as it was written", async (_name, body) => {
    const { answer, payload, raw } = await ask(body)
    expect(answer._tag).toBe("Match")
    expect(payload).toBe(body)
    expect(raw).toEqual({ _tag: "Delivered", data: body, measured: null })
  })

  test("a byte order mark is no part of the JSON", async () => {
    const { answer, payload, raw } = await ask('\ufeff{"ok":true}')
    expect(answer._tag).toBe("Match")
    expect([payload, raw]).toEqual(['{"ok":true}', { _tag: "Delivered", data: '{"ok":true}', measured: null }])
  })

  test("what is no JSON and does not say so is delivered as one JSON string", async () => {
    const table = "name,employees\nZ\u00fcrich,7\n"
    expect((await ask(table, "text/csv")).raw).toMatchObject({ _tag: "Delivered", data: JSON.stringify(table) })
    const latin = Uint8Array.from(Buffer.from("Z\u00fcrich", "latin1"))
    expect((await ask(latin, "text/plain; charset=iso-8859-1")).raw).toMatchObject({ data: '"Z\u00fcrich"' })
    expect((await ask(latin, "text/plain; charset=no-such")).raw).toMatchObject({ data: '"Z\ufffdrich"' })
    expect((await ask("", null, 204)).raw).toMatchObject({ data: '""' })
    expect((await ask("", null, 200, "DELETE")).raw).toMatchObject({ data: '""' })
  })

  test("whatever JSON it is, it arrives as it left; whatever bytes they are, nothing crashes", async () => {
    let values = 0
    let bytes = 0
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 8 }), async (body) => {
        values += 1
        expect((await ask(body)).raw).toMatchObject({ _tag: "Delivered", data: body })
      }),
      { numRuns: 100 }
    )
    const tags = ["Match", "Delivered", "Failure"]
    const type = fc.constantFrom(null, json, "text/plain", "text/html", "application/json; charset=utf-16", ";;=")
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), type, async (body, type) => {
        bytes += 1
        const { answer, raw } = await ask(Uint8Array.from(body), type)
        expect(tags).toContain(answer._tag)
        if (raw._tag === "Delivered") JSON.parse(raw.data)
      }),
      { numRuns: 100 }
    )
    expect(crashes()).toEqual([])
    figures("T36 provider.invalid_json", {
      cases: broken.length + odd.length + untouched.length,
      random_values: values,
      random_bytes: bytes,
      crashes: crashes().length
    })
  })

  test.each([`"${secret}"`, JSON.stringify(secret).replaceAll("/", "\\/"), JSON.stringify(encodeURIComponent(secret))])(
    "a key that comes back as %s is hidden, and the rest stays",
    async (repeated) => {
      const { raw, payload } = await ask(`{"ok":true,"key":${repeated},"n":1.0}`)
      expect(payload).toBe('{"ok":true,"key":"<redacted>","n":1.0}')
      expect(raw).toMatchObject({ data: '{"ok":true,"key":"<redacted>","n":1.0}' })
    }
  )

  test("a secret of which a part is empty or tiny does not hide everything", async () => {
    const basic = await startExecutor({ plain: `http://127.0.0.1:${server.port}` }, "login:")
    played = { body: '{"ok":true,"a":"bcd"}', type: json, status: 200 }
    const { answer } = await basic.callRaw(providerOf("plain", { auth: { kind: "basic" } }))
    expect(answer).toMatchObject({ data: '{"ok":true,"a":"bcd"}' })
    await basic.stop()
  })
})

describe("T36 in the whole service", () => {
  const app = withApp({
    settings: {
      RUNGATE_MODE: "production",
      RUNGATE_PROVIDER_ACME_API_KEY: secret,
      RUNGATE_PROVIDER_ACME_BASE_URL: `http://127.0.0.1:${server.port}`
    }
  })
  beforeAll(async () => {
    await app.catalog(acme)
  })

  test("a payload reaches the caller as it was written; a broken one costs nothing", async () => {
    const org = await app.tenant("5.00")
    const run = () =>
      org.run({ provider: "acme", endpoint: "/people/{id}", method: "GET", path: { id: "1" }, input: {} })
    const body = '{"a":1,"a":2.0,"id":12345678901234567890,"zero":"\\u0000","half":"\\ud800"}'
    played = { body, type: "application/json", status: 200 }
    const delivered = await run()
    expect(delivered.body.status).toBe("succeeded")
    expect(delivered.text).toContain(`"data":${body}`)
    expect((await org.get(`/v1/runs/${delivered.body.run_id}`)).text).toContain(`"data":${body}`)
    const wallet = await org.wallet()
    expect(wallet).toMatchObject({ balance: "4.98", reserved: "0.00" })
    for (const hostile of ['{"a":NaN}', '{"a":', "", `${"[".repeat(10_000)}${"]".repeat(10_000)}`]) {
      played = { body: hostile, type: "application/json", status: 200 }
      const { status, body } = await run()
      expect([status, body.status, body.attempts[0].outcome]).toEqual([502, "failed", "invalid_response"])
    }
    // Words that no database and no log would take as they are.
    const words = `half \ud83d a NUL \u0000 and a line\n2026-01-01 ERROR forged`
    played = { body: JSON.stringify({ error: words }), type: "application/json", status: 500 }
    const refused = await run()
    expect([refused.status, refused.body.attempts[0].detail]).toEqual([
      502,
      "HTTP 500: half \ufffd a NUL   and a line 2026-01-01 ERROR forged"
    ])
    expect(await org.wallet()).toEqual(wallet)
    expect(app.logs.filter((line) => /\n.*forged/.test(line))).toEqual([])
    await app.books()
  })
})
