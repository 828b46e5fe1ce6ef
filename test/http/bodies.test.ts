/**
 * Bodies that are made to be expensive: deep, wide, slow, or with strings that the database can't store. Every endpoint refuses them with a
 * 4xx that names the field, before anything parses them.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { connect } from "node:net"
import { Layer } from "effect"
import { type App, figures, startApp, type Tenant, timed, until, verify } from "../kit/app.ts"
import { BodySeconds } from "../../src/http/middleware/Body.ts"
import { acme } from "../kit/provider-documents.ts"
import { calling, postTo } from "./mcp-request.ts"

let app: App
let org: Tenant
beforeAll(async () => {
  app = await startApp()
  await app.catalog(acme)
  org = await app.tenant("10.00")
})
afterAll(async () => {
  expect(app.logs.filter((line) => line.startsWith("Error"))).toEqual([])
  await app.books()
  await app.stop()
})

const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`
const json = { "content-type": "application/json" }
const account = { email: "deep@example.com", password: "correct horse battery", organization: "Deep" }

/** Doors that take JSON: the body around a hostile value, and the top-level field that holds it. */
const endpoints: ReadonlyArray<
  readonly [name: string, path: string, around: readonly [string, string], field: string]
> = [
  ["run", "/v1/run", ['{"capability":"email.verify","input":', "}"], "input"],
  ["run with a query", "/v1/run", ['{"provider":"acme","endpoint":"/search","input":{},"query":{"q":', "}}"], "query"],
  [
    "run with a path",
    "/v1/run",
    ['{"provider":"acme","endpoint":"/people/{id}","input":{},"path":{"id":', "}}"],
    "path"
  ],
  ["inspect", "/v1/inspect", ['{"capability":', "}"], "capability"],
  ["discover", "/v1/discover", ['{"query":', "}"], "query"],
  ["history", "/v1/history", ['{"subjects":', "}"], "subjects"],
  ["spend guard", "/v1/spend-guard", ['{"daily_limit":', "}"], "daily_limit"],
  ["checkout", "/v1/wallet/topups/checkout", ['{"amount":', "}"], "amount"],
  ["auto-topup", "/v1/wallet/auto-topup", ['{"threshold":', "}"], "threshold"],
  ["keys", "/v1/api-keys", ['{"name":', "}"], "name"],
  ["sign-up", "/v1/auth/sign-up", [`${JSON.stringify(account).slice(0, -1)},"referral_code":`, "}"], "referral_code"],
  ["sign-in", "/v1/auth/sign-in", ['{"email":', "}"], "email"]
]
const sendTo = (path: string, raw: string, headers: Record<string, string> = {}) =>
  app.call(org.key, "POST", path, { raw, headers: { ...json, ...headers } })

describe("deep JSON", () => {
  test.each(endpoints)(
    "%s: is refused before it is parsed, with the field's name",
    async (_name, path, around, field) => {
      // 65 levels are refused like 400,000; the parser would have taken both.
      for (const levels of [64, 400_000]) {
        const answer = await sendTo(path, around.join(nested(levels)))
        expect([answer.status, answer.body.error.code, answer.body.error.details[0].path]).toEqual([
          400,
          "invalid_request",
          field
        ])
        expect(answer.body.error.message).toContain("64 levels")
      }
    }
  )

  test("is refused with an Idempotency-Key too, where it was a 500", async () => {
    for (const [, path, around] of endpoints.slice(0, 3)) {
      const { status, body } = await sendTo(path, around.join(nested(400_000)), {
        "idempotency-key": crypto.randomUUID()
      })
      expect([status, body.error.code]).toEqual([400, "invalid_request"])
    }
  })

  test("is refused by the webhook and by /mcp, in batches too", async () => {
    const webhook = await app.call(null, "POST", "/v1/webhooks/stripe", { raw: nested(400_000) })
    expect([webhook.status, webhook.body.error.code]).toEqual([400, "invalid_request"])
    const call = JSON.stringify(calling("run", verify())).replace('"email.verify"', nested(100_000))
    for (const message of [call, `[${call}]`, nested(100_000)]) {
      const answer = await postTo(app.url, message, { key: org.key })
      expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
        400,
        "invalid_request"
      ])
    }
  })

  test("64 levels are a request like any other", async () => {
    const query = `{"provider":"acme","endpoint":"/search","input":{"filter":{"field":${nested(61)}}}}`
    const { body } = await sendTo("/v1/run", query, { "idempotency-key": "sixty-four" })
    expect(JSON.stringify(body)).not.toContain("64 levels")
  })

  test("a megabyte of empty objects is refused, too", async () => {
    const raw = `{"capability":"email.verify","input":[${Array.from({ length: 270_000 }, () => "{}").join(",")}]}`
    const { status, body } = await sendTo("/v1/run", raw)
    expect([status, body.error.details[0].path]).toEqual([400, "input"])
    expect(body.error.message).toContain("50000 objects and arrays")
  })

  test("thirty bodies of 0.8 MB of brackets keep nobody waiting", async () => {
    const raw = `{"capability":"email.verify","input":${nested(400_000)}}`
    const before = await timed(() => org.get("/v1/wallet"))
    const flood = timed(() => Promise.all(Array.from({ length: 30 }, () => sendTo("/v1/run", raw))))
    const during = await timed(() => org.get("/v1/wallet"))
    const { value: answers, millis } = await flood
    expect(answers.map((one) => one.status)).toEqual(Array.from({ length: 30 }, () => 400))
    figures("T55 deep bodies", {
      requests: 30,
      millis: Math.round(millis),
      wallet_before_ms: Math.round(before.millis),
      wallet_during_ms: Math.round(during.millis)
    })
  })
})

describe("a slow body", () => {
  let slow: App
  beforeAll(async () => {
    slow = await startApp({ beside: app, role: "http", limits: Layer.succeed(BodySeconds, 0.4) })
  })
  afterAll(() => slow.stop())
  /** A client that sends its head at once, and then a byte every 50 ms until it is hung up on. */
  const trickle = (head: string, bytes: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(slow.url).port), "127.0.0.1")
      let text = ""
      const timer = setInterval(() => socket.write(bytes), 50)
      socket.on("connect", () => socket.write(head))
      socket.on("data", (data) => (text += String(data)))
      socket.on("error", () => {})
      socket.on("close", () => {
        clearInterval(timer)
        resolve(text)
      })
    })
  const key = () => `authorization: Bearer ${org.key}\r\n`
  const head = (path: string, more: string) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${key()}${more}\r\n`

  test.each(["/v1/run", "/v1/discover", "/v1/auth/sign-in", "/mcp", "/v1/webhooks/stripe"])(
    "%s: ends with 408 and a closed connection, whether it says its length or not",
    async (path) => {
      const answers = await Promise.all([
        trickle(head(path, "content-length: 1000\r\n"), "x"),
        trickle(head(path, "transfer-encoding: chunked\r\n"), "1\r\nx\r\n")
      ])
      for (const answer of answers) {
        expect(answer).toStartWith("HTTP/1.1 408")
        expect(answer).toContain('"code":"request_timeout"')
        expect(answer.toLowerCase()).toContain("connection: close")
      }
    }
  )

  test("who has no valid key is refused before the body arrives", async () => {
    const wrong = head("/v1/run", "content-length: 1000\r\nconnection: close\r\n").replace(
      org.key,
      `rg_test_${"x".repeat(43)}`
    )
    // A body that is waited for ends with 408.
    expect(await trickle(wrong, "x")).toStartWith("HTTP/1.1 401")
  })

  test("an ordinary body in several pieces is taken", async () => {
    const text = JSON.stringify(verify())
    const pieces = new ReadableStream({
      start: async (stream) => {
        for (const part of text.match(/.{1,30}/g) ?? []) {
          stream.enqueue(Buffer.from(part))
          await Bun.sleep(5)
        }
        stream.close()
      }
    })
    const answer = await fetch(`${app.url}/v1/run`, {
      method: "POST",
      headers: { ...json, authorization: `Bearer ${org.key}` },
      body: pieces
    })
    expect(answer.status).toBe(200)
  })
})

describe("the type of a body", () => {
  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/xml",
    "multipart/form-data; boundary=x",
    "nonsense"
  ])("%s is 415", async (type) => {
    const { status, body } = await sendTo("/v1/run", JSON.stringify(verify()), { "content-type": type })
    expect([status, body.error.code]).toEqual([415, "unsupported_media_type"])
    expect(body.error.message).toContain("application/json")
  })
  test.each(["application/json", "application/json; charset=utf-8", "Application/JSON"])(
    "%s is taken",
    async (type) => {
      expect((await sendTo("/v1/run", JSON.stringify(verify()), { "content-type": type })).status).toBe(200)
    }
  )
})

describe("a large body", () => {
  test("counts as a request for every 32 KiB, so that few of them use up a limit", async () => {
    const strict = await startApp({ beside: app, role: "http", settings: { RUNGATE_RATE_LIMIT: "20" } })
    try {
      const tenant = (await app.tenant("1.00")).over(strict)
      const raw = JSON.stringify({ capability: "email.verify", input: { email: "x".repeat(900_000) } })
      const statuses: Array<number> = []
      for (let n = 0; n < 4; n += 1)
        statuses.push((await tenant.post("/v1/run", undefined, { raw, headers: json })).status)
      expect(statuses).toEqual([400, 429, 429, 429])
      const small = await until(
        "the bucket fills again",
        () => tenant.get("/v1/wallet"),
        ({ status }) => status === 200
      )
      expect(small.headers.get("ratelimit-policy")).toBe('"default";q=40;w=2')
    } finally {
      await strict.stop()
    }
  })
})
