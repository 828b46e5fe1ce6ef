/** Secrets of accounts in answers of providers: every spelling goes, and a hostile secret can't make an answer grow. */
import { describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import { authorized } from "../../../src/layers/executor/ProviderRequest.ts"
import { replyReader } from "../../../src/layers/executor/ProviderResponse.ts"
import type { Auth } from "../../../src/schema/catalog/Provider.ts"

const redactorOf = (auth: Auth, secret: string) => {
  const target = { slug: "acme", base_url: "https://api.example.com", auth, headers: {}, concurrency: 1 }
  const request = {
    method: "GET",
    path: "/v1",
    query: "",
    headers: {},
    body: undefined,
    origin: undefined,
    acts: false
  }
  const account = { apiKey: Redacted.make(secret), baseUrl: null, creditUsd: null, webhookSecrets: [] }
  const made = authorized({ ...target, spacingMillis: 0, timeoutMillis: 1_000 }, account, request)
  if (!("redact" in made)) throw new Error(made.detail)
  return made.redact
}
const twoHeaders: Auth = { kind: "headers", names: ["x-id", "x-token"] }

describe("a secret in an answer", () => {
  test("goes in each spelling, and whole", () => {
    const redact = redactorOf({ kind: "bearer" }, 'se/cret "key" 4711')
    const spellings = [
      'se/cret "key" 4711',
      'se/cret \\"key\\" 4711',
      'se\\/cret \\"key\\" 4711',
      "se%2Fcret+%22key%22+4711"
    ]
    expect(redact(spellings.map((one) => `<${one}>`).join(" "))).toBe(spellings.map(() => "<<redacted>>").join(" "))
  })

  test("goes where the provider's JSON escapes signs of HTML", () => {
    const redact = redactorOf({ kind: "bearer" }, "a+b/c&d<e-4711")
    const net = String.raw`{"key":"a\u002Bb/c\u0026d\u003Ce-4711"}`
    const go = String.raw`{"key":"a+b/c\u0026d\u003ce-4711"}`
    expect([net, go].map(redact)).toEqual(['{"key":"<redacted>"}', '{"key":"<redacted>"}'])
    const basic = redactorOf({ kind: "basic" }, "user:>>>>long-password")
    const sent = btoa("user:>>>>long-password")
    expect([sent.includes("+"), basic(sent.replaceAll("+", String.raw`\u002B`))]).toEqual([true, "<redacted>"])
  })

  test("goes as the two headers that it becomes, split at its first colon", () => {
    const redact = redactorOf(twoHeaders, "account-1:token:of:account")
    expect(redact("account-1:token:of:account, account-1, token:of:account")).toBe("<redacted>, *********, <redacted>")
    expect(redact("of account 1: a token")).toBe("of account 1: a token")
  })

  test("goes as the password of basic credentials, and as their base64", () => {
    const redact = redactorOf({ kind: "basic" }, "user:a-long-password")
    expect(redact(`Basic ${btoa("user:a-long-password")} for user with a-long-password`)).toBe(
      "Basic <redacted> for user with <redacted>"
    )
  })

  test("is not looked for in what replaced another one", () => {
    expect(redactorOf(twoHeaders, "<redacted:redacted>")("<redacted:redacted> redacted> <redacted")).toBe(
      "<redacted> ********* *********"
    )
  })
})

test("no secret makes an answer longer, whatever it and the answer are", () => {
  const hostile = [
    "x:reda:edac:dact:acte:cted:ted>:<red",
    "reda",
    `${"a".repeat(277)}:${"a".repeat(276)}`,
    "<redacted>:<"
  ]
  const answers = ["reda".repeat(10_000), "a".repeat(50_000), "<redacted>".repeat(5_000), hostile.join("")]
  const kinds: ReadonlyArray<Auth> = [twoHeaders, { kind: "bearer" }, { kind: "basic" }]
  const grown = hostile.flatMap((secret) =>
    kinds.flatMap((kind) =>
      answers.filter((answer) => redactorOf(kind, secret)(answer).length > answer.length).map(() => [secret, kind])
    )
  )
  expect(grown).toEqual([])
})

describe("an answer that is nested too deeply is refused", () => {
  const deep = "[".repeat(2_000) + "]".repeat(2_000)
  const read = (body: string | Uint8Array<ArrayBuffer>, type: string, redact = (text: string) => text) =>
    replyReader(new Response(body, { headers: { "content-type": type } }), redact, 1_000_000, () =>
      Promise.resolve()
    ).read(1_000_000)
  const refused = { _tag: "Failure", reason: "invalid_response", detail: expect.stringContaining("nested") }

  test("also if a redaction removes the quote that hid it", async () => {
    const redact = redactorOf({ kind: "bearer" }, 'aaaaaaa"')
    expect(await read(`["aaaaaaa",",${deep}]`, "application/json", redact)).toMatchObject(refused)
  })

  test("also if another encoding hides it", async () => {
    const text = `["\u2230",${deep}]`
    const bytes = Uint8Array.from([...text].flatMap((one) => [one.charCodeAt(0) & 0xff, one.charCodeAt(0) >> 8]))
    expect(await read(bytes, "application/json; charset=utf-16le")).toMatchObject(refused)
  })

  test("and others are read, in both", async () => {
    const redact = redactorOf({ kind: "bearer" }, "se/cret 4711")
    expect(await read('{"key":"se/cret 4711"}', "application/json", redact)).toMatchObject({
      body: { key: "<redacted>" }
    })
    const bytes = Uint8Array.from([..."[1]"].flatMap((one) => [one.charCodeAt(0), 0]))
    expect(await read(bytes, "application/json; charset=utf-16le")).toMatchObject({ body: [1] })
  })
})
