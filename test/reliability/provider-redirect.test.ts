/**
 * T37 and T60: a provider that points elsewhere, and a caller that writes more than a value. The key goes to the provider's
 * own host or nowhere, and what a caller says stays in its place of the request, as the very bytes on the socket show.
 *
 * Also how the executor behaves towards a provider that asks for peace: pauses, distances and breakers.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { authorized } from "../../src/layers/executor/ProviderRequest.ts"
import { figures, type Tenant, timed, withApp } from "../kit/app.ts"
import { acme } from "../kit/provider-documents.ts"
import { type Executor, providerOf, secret, startExecutor } from "./executor.ts"
import { type Hostile, startHostile } from "./hostile.ts"

let hostile: Hostile
beforeAll(async () => {
  hostile = await startHostile()
})
afterAll(() => hostile.stop())

/** What a server got: the line and every header. */
interface Got {
  readonly path: string
  readonly headers: string
  readonly at: number
}
type Handler = (request: Request) => Response | Promise<Response>

const listen = () => {
  const got: Array<Got> = []
  let handler: Handler = () => Response.json({ ok: true })
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const headers = JSON.stringify(Object.fromEntries(request.headers))
      got.push({ path: new URL(request.url).pathname, headers, at: performance.now() })
      return handler(request)
    }
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    got,
    play: (next: Handler) => {
      got.length = 0
      handler = next
    },
    stop: () => server.stop(true)
  }
}
const own = listen()
const elsewhere = listen()
afterAll(() => Promise.all([own.stop(), elsewhere.stop()]))

const ok: Handler = () => Response.json({ ok: true })
const says =
  (status: number, headers: Record<string, string> = {}): Handler =>
  () =>
    new Response("{}", { status, headers })

describe("T37 provider.redirect", () => {
  let executor: Executor
  beforeAll(async () => {
    executor = await startExecutor({ own: own.url })
  })
  afterAll(() => executor.stop())

  const places: ReadonlyArray<readonly [string, () => string]> = [
    ["another host", () => `${elsewhere.url}/stolen`],
    ["the metadata address", () => "http://169.254.169.254/latest/meta-data/"],
    ["itself", () => `${own.url}/good`],
    ["a loop", () => "/good?again=1"],
    ["another scheme", () => "file:///etc/passwd"],
    ["nowhere", () => "http://["],
    ["a host without a scheme", () => elsewhere.url.replace("http:", "")]
  ]
  const auths = [
    { kind: "header", name: "X-API-Key" },
    { kind: "query", name: "key" },
    { kind: "bearer" },
    { kind: "basic" },
    { kind: "headers", names: ["X-Login", "X-Password"] }
  ] as const
  test.each(places)("to %s is a failure: no second request, and the key stays", async (name, location) => {
    elsewhere.play(ok)
    let [asked, requests] = [0, 0]
    for (const status of [300, 301, 302, 303, 304, 305, 307, 308]) {
      for (const auth of auths) {
        own.play(says(status, { location: location(), refresh: `0;url=${location()}` }))
        const one = providerOf("own", { auth })
        const [normal, raw] = await Promise.all([executor.call(one), executor.callRaw(one)])
        asked += 2
        requests += own.got.length
        for (const { answer } of [normal, raw]) {
          expect(answer).toEqual({
            _tag: "Failure",
            reason: "provider_error",
            detail: `HTTP ${status}: redirects are not followed`
          })
        }
        expect(own.got.length).toBe(2)
      }
    }
    expect(elsewhere.got).toEqual([])
    figures("T37 provider.redirect", {
      to: name,
      calls: asked,
      second_requests: requests - asked + elsewhere.got.length
    })
  })
})

describe("T60 raw.header_injection", () => {
  let executor: Executor
  beforeAll(async () => {
    executor = await startExecutor({ wire: hostile.url, based: `${hostile.url}/base/` })
    await hostile.play("good")
  })
  afterAll(() => executor.stop())

  const nasty = [
    "a\r\nX-Evil: 1",
    "a\nX-Evil: 1",
    "a\rX-Evil: 1",
    "a\0b",
    "a\r\n\r\nGET /evil HTTP/1.1\r\nHost: evil\r\n\r\n",
    "\u010d\u010aX-Evil: 1",
    "\u2028X-Evil: 1",
    "a\u0085b",
    "\u20ac",
    "\ud83d\ude00",
    "\ud800",
    "\x7f",
    " HTTP/1.1\r\nX-Evil: 1\r\n\r\n"
  ]
  /** The request as it went over the wire: its lines, and how many. */
  const wire = async () => {
    const { last, requests } = await hostile.tell()
    const [head = "", ...body] = last.split("\r\n\r\n")
    const [line = "", ...headers] = head.split("\r\n")
    return { line, headers, body: body.join("\r\n\r\n"), requests, names: headers.map((one) => one.split(":")[0]) }
  }
  const counts = { tried: 0, refused: 0 }
  beforeEach(() => executor.call(providerOf("wire")))
  afterAll(() => figures("T60 raw.header_injection", { ...counts, encoded: counts.tried - counts.refused }))

  test("in a header of an adapter: refused before a connection, unless a header can carry it", async () => {
    const before = (await wire()).requests
    for (const value of nasty) {
      for (const headers of [{ "x-value": value }, { [`x-${value}`]: "1" }] as const) {
        counts.tried += 1
        const { answer } = await executor.call(providerOf("wire", {}, { headers: { ...headers } }))
        expect(answer).toMatchObject({ _tag: "Failure", reason: "provider_rejected" })
        counts.refused += 1
      }
    }
    expect((await wire()).requests).toBe(before)
    const { answer } = await executor.call(providerOf("wire", {}, { headers: { "x-value": "Z\u00fcrich\t7" } }))
    expect(answer._tag).toBe("Match")
    // The caller's own words are nobody's fault: the provider is not routed around.
    expect(executor.breakers.all()).toEqual([])
  })

  test("in the account's key: refused as the account's trouble", async () => {
    const before = (await wire()).requests
    for (const kind of ["header", "bearer"] as const) {
      const broken = await startExecutor({ wire: hostile.url }, "key\r\nX-Evil: 1")
      const auth = kind === "header" ? { kind, name: "X-API-Key" } : { kind }
      const { answer } = await broken.call(providerOf("wire", { auth }))
      expect(answer).toMatchObject({ _tag: "Failure", reason: "provider_account" })
      await broken.stop()
    }
    expect((await wire()).requests).toBe(before)
  })

  test("in a path: what is not encoded is refused, and nothing climbs out of the base", async () => {
    const paths = [
      ...nasty.map((value) => `/people/${value}`),
      "/people/../../admin",
      "/people/%2e%2e/admin",
      "/people/.%2E/admin",
      "/people/./admin",
      "/people\\..\\admin",
      "/people/a\tb",
      "/people?x=1",
      "/people#x",
      "people",
      "@evil.example/",
      ":80/people",
      ".evil.example/",
      "//evil.example/x",
      "",
      "/people/{id}"
    ]
    for (const slug of ["wire", "based"]) {
      const one = providerOf(slug)
      for (const path of paths) {
        counts.tried += 1
        const before = (await wire()).requests
        const { answer } = await executor.callRaw(one, { path })
        const after = await wire()
        if (answer._tag === "Failure") {
          expect([path, answer.reason, after.requests]).toEqual([path, "provider_rejected", before])
          counts.refused += 1
        } else throw new Error(`${path} was sent as ${after.line}`)
      }
      await executor.callRaw(one, { path: "/people/%2Fetc%2Fpasswd%00%0D%0A" })
      const base = slug === "wire" ? "" : "/base"
      expect((await wire()).line).toBe(`GET ${base}/people/%2Fetc%2Fpasswd%00%0D%0A HTTP/1.1`)
    }
    // Behind a name without a port, some of these would make another name of it.
    for (const path of [".evil.example/", "@evil.example/", ":pass@evil.example/", "people"]) {
      const sent = { method: "GET", path, query: "", headers: {}, body: undefined, origin: undefined, acts: false }
      expect(authorized(providerOf("wire"), undefined, sent)).toMatchObject({ reason: "provider_rejected" })
    }
  })

  test("in a query, a form or a body: encoded", async () => {
    const plain = (await wire()).names
    for (const value of nasty) {
      for (const pair of [
        ["q", value],
        [value, "1"]
      ] as const) {
        counts.tried += 1
        const { answer } = await executor.callRaw(providerOf("wire"), { query: [pair] })
        expect(answer._tag).toBe("Delivered")
        const { line, names } = await wire()
        expect(line).toMatch(/^GET \/good\?[!-~]+ HTTP\/1\.1$/)
        const [sent] = new URLSearchParams(line.split(/[? ]/)[2])
        expect(sent).toEqual([pair[0].toWellFormed(), pair[1].toWellFormed()])
        expect(plain).toEqual(expect.arrayContaining(names.filter((name) => name !== "Content-Type")))
      }
      for (const encoding of ["json", "form", "multipart"] as const) {
        counts.tried += 1
        const raw = { method: "POST", encoding, has_body: true } as const
        const { answer } = await executor.callRaw(providerOf("wire"), raw, { [value]: value })
        expect(answer._tag).toBe("Delivered")
        const { names, body } = await wire()
        expect(plain).toEqual(expect.arrayContaining(names))
        // A name of a form's part stands in a header of the part.
        const heads = body.split("\r\n").filter((line) => /^(content-|x-evil)/i.test(line))
        if (encoding === "multipart") expect(heads.filter((line) => /^x-evil/i.test(line)).length).toBeLessThan(2)
        else expect(heads).toEqual([])
      }
    }
  })
})

describe("T60 in the whole service", () => {
  let org: Tenant
  const app = withApp(() => ({
    settings: {
      RUNGATE_MODE: "production",
      RUNGATE_PROVIDER_ACME_API_KEY: secret,
      RUNGATE_PROVIDER_ACME_BASE_URL: hostile.url
    }
  }))
  beforeAll(async () => {
    await app.catalog(acme)
    org = await app.tenant("50.00")
    await hostile.play("good")
  })

  test("a value that can't stand in its place is a 400; the others leave encoded, in one segment", async () => {
    const values = [
      "a\r\nX-Evil: 1",
      "a\0b",
      "..",
      ".",
      "%2e%2e",
      "a/../b",
      "..\\",
      "\ud800",
      "",
      "\x7f",
      "a/b",
      "\u20ac",
      "a b?c#d%",
      "@evil",
      "//evil"
    ]
    const before = (await hostile.tell()).requests
    let sent = 0
    for (const id of values) {
      const { status, body } = await org.run({
        provider: "acme",
        endpoint: "/people/{id}",
        method: "GET",
        path: { id },
        input: {}
      })
      if (status === 400) {
        expect(body.error.details[0].path).toBe("path.id")
        continue
      }
      expect([id, status]).toEqual([id, 200])
      sent += 1
      const { last } = await hostile.tell()
      expect(last.slice(0, last.indexOf("\r\n"))).toBe(`GET /v1/people/${encodeURIComponent(id)} HTTP/1.1`)
    }
    expect((await hostile.tell()).requests).toBe(before + sent)
    await app.books()
    figures("T60 in the whole service", { values: values.length, sent, refused: values.length - sent })
  })
})

describe("a provider that asks for peace", () => {
  const fresh = () => startExecutor({ own: own.url })

  test("a long Retry-After fails later calls at once, and the calls that wait; a 429 trips nothing", async () => {
    const executor = await fresh()
    const narrow = providerOf("own", { concurrency: 1, timeoutMillis: 5_000 })
    own.play(says(429, { "retry-after": "60" }))
    const limited = { _tag: "Failure", reason: "provider_rate_limited" }
    // All at once: the first is refused, and the others, which stand in its queue, are not sent any more.
    const { value, millis } = await timed(() => Promise.all(Array.from({ length: 5 }, () => executor.callRaw(narrow))))
    for (const { answer } of value) expect(answer).toMatchObject(limited)
    expect(own.got.length).toBe(1)
    const { answer, duration_ms } = await executor.call(narrow)
    expect(answer).toMatchObject({ ...limited, detail: "the provider asked for a pause of 60 s" })
    expect(own.got.length).toBe(1)
    expect(duration_ms).toBeLessThan(5_000)
    expect(executor.breakers.all()).toEqual([])
    figures("rate limits: a long pause", { calls: 6, sent: own.got.length, all_ms: Math.round(millis) })
    await executor.stop()
  })

  test("a short Retry-After is waited for", async () => {
    const executor = await fresh()
    const one = providerOf("own", { timeoutMillis: 5_000 })
    own.play((request) => (own.got.length === 1 ? says(429, { "retry-after": "1" })(request) : ok(request)))
    expect((await executor.callRaw(one)).answer).toMatchObject({
      reason: "provider_rate_limited",
      retryAfterSeconds: 1
    })
    const { answer, duration_ms } = await executor.call(one)
    expect(answer._tag).toBe("Match")
    expect(duration_ms).toBeGreaterThan(900)
    figures("rate limits: a short pause", { waited_ms: Math.round(duration_ms) })
    await executor.stop()
  })

  test("a Retry-After that makes no sense is no pause", async () => {
    const executor = await fresh()
    for (const nonsense of ["-1", "soon", "1e9", "99999999999999", "", "0x10", "Thu, 01 Jan 1970 00:00:00 GMT"]) {
      own.play(says(429, { "retry-after": nonsense }))
      await executor.callRaw(providerOf("own"))
      own.play(ok)
      expect([nonsense, (await executor.call(providerOf("own"))).answer._tag]).toEqual([nonsense, "Match"])
    }
    await executor.stop()
  })

  test("spacingMillis keeps calls apart, and concurrency how many there are", async () => {
    const executor = await fresh()
    own.play(ok)
    const spaced = providerOf("own", { spacingMillis: 50, timeoutMillis: 5_000 })
    const began = performance.now()
    await Promise.all(Array.from({ length: 5 }, () => executor.callRaw(spaced)))
    // Nothing arrives before it was sent: however slow the way, each is late enough. A clock of whole milliseconds rounds.
    const early = own.got.map(({ at }, index) => Math.round(at - began - index * 50))
    expect(early.length).toBe(5)
    expect(Math.min(...early)).toBeGreaterThanOrEqual(-2)
    let inside = 0
    let most = 0
    own.play(async () => {
      inside += 1
      most = Math.max(most, inside)
      await Bun.sleep(5)
      inside -= 1
      return Response.json({ ok: true })
    })
    const other = await fresh()
    await Promise.all(
      Array.from({ length: 20 }, () => other.callRaw(providerOf("own", { concurrency: 3, timeoutMillis: 5_000 })))
    )
    expect([own.got.length, most]).toEqual([20, 3])
    figures("rate limits: spacing", { spacing_ms: 50, early_ms: Math.min(...early, 0), most_at_once: most })
    await Promise.all([executor.stop(), other.stop()])
  })

  test("a queue of our own that is too long blames nobody, and nothing is left unknown", async () => {
    const executor = await fresh()
    const hold = Promise.withResolvers<Response>()
    // Both have the same time: the turn comes free at the very end of the second one's.
    own.play(async () => (await hold.promise).clone())
    const narrow = providerOf("own", { concurrency: 1, timeoutMillis: 150 })
    const answers = await Promise.all([executor.call(narrow), executor.call(narrow)])
    hold.resolve(Response.json({}))
    expect(answers.map(({ answer }) => (answer._tag === "Failure" ? answer.reason : answer._tag)).sort()).toEqual([
      "provider_rate_limited",
      "provider_timeout"
    ])
    expect(own.got.length).toBe(1)
    await executor.stop()
  })
})

describe("breakers of the executor", () => {
  const tripped = (executor: Executor) => executor.breakers.tripped("own", "email.verify", "org_1", Date.now())

  test("trip after five failures in a row, not after four and a success, and keep to their offer", async () => {
    const executor = await startExecutor({ own: own.url })
    const one = providerOf("own")
    own.play(says(503))
    for (let call = 0; call < 4; call++) await executor.call(one)
    own.play(ok)
    await executor.call(one)
    own.play(says(500))
    for (let call = 0; call < 4; call++) await executor.call(one)
    expect(tripped(executor)).toBeNull()
    await executor.call(one)
    expect(tripped(executor)).toMatchObject({ reason: "provider_error", detail: "HTTP 500" })
    expect(executor.breakers.tripped("own", "email.find", "org_1", Date.now())).toBeNull()
    expect(executor.breakers.tripped("own", "/good", "org_1", Date.now())).toBeNull()
    own.play(ok)
    await executor.call(one)
    expect(tripped(executor)).toBeNull()
    await executor.stop()
  })

  test("trip after one refused account, and for no longer when many calls are refused at once", async () => {
    const executor = await startExecutor({ own: own.url })
    own.play(says(401))
    await Promise.all(Array.from({ length: 20 }, () => executor.call(providerOf("own"))))
    const trip = tripped(executor)
    expect(trip).toMatchObject({ reason: "provider_account" })
    const seconds = Math.round(((trip?.until ?? 0) - Date.now()) / 1_000)
    expect(seconds).toBeLessThanOrEqual(60)
    // The log says it once, and not to twenty operators.
    expect(executor.logs.filter((line) => line.includes("breaker open")).length).toBe(1)
    figures("breakers", { calls: 20, seconds })
    await executor.stop()
  })

  test("do not trip for a raw request that the provider refuses", async () => {
    const executor = await startExecutor({ own: own.url })
    own.play(says(422))
    for (let call = 0; call < 10; call++) {
      const { answer } = await executor.callRaw(providerOf("own"))
      expect(answer).toMatchObject({ reason: "provider_rejected" })
    }
    expect(executor.breakers.all()).toEqual([])
    await executor.stop()
  })
})
