/** The rules of the guards, without a database. */
import { describe, expect, test } from "bun:test"
import { contactRefusal, type Contact, recipientsOf } from "../../src/schema/guards/ContactGuard.ts"
import { inputHashOf, requestHashOf } from "../../src/schema/guards/InputHash.ts"
import { mayNameRecipients, rawContacts } from "../../src/schema/guards/RawRecipients.ts"
import { tiesIn } from "../../src/schema/guards/PersonTies.ts"
import { repeatRefusal, repeatSeconds, type Try } from "../../src/schema/guards/RepeatGuard.ts"
import { decideReuse, joinsMax, plannedReuse } from "../../src/schema/guards/Reuse.ts"

const second = 1_000_000n
const tries = (...at: ReadonlyArray<number>): ReadonlyArray<Try> =>
  at.map((seconds, n) => ({ run_id: `run_${n}`, at: BigInt(seconds) * second }))

describe("the recipients of a raw call", () => {
  const identitiesOf = (to: unknown) =>
    (rawContacts({ to }).contacts?.recipients ?? []).flatMap(({ identities }) => identities)

  test("are all addresses of a text, whatever else is in it", () => {
    for (const text of [
      '"Doe, Jane" <jane@x.example>, out@y.example',
      "jane@x.example, nobody, out@y.example",
      "Team: Jane <jane@x.example>,\r\n out@y.example;",
      "jane@x.example out@y.example",
      `${"Jane ".repeat(2_000)}<jane@x.example>; JANE@x.example; mailto:out@y.example?subject=Hello`
    ])
      expect(identitiesOf(text)).toEqual(["e:jane@x.example", "e:out@y.example"])
    expect(identitiesOf('"jane"@x.example, out@y.example')).toEqual(["e:jane@x.example", "e:out@y.example"])
    expect(identitiesOf("nobody, @, a@")).toEqual([])
  })

  test("of a long text are read in one pass", () => {
    const text = `${"a".repeat(2_000_000)} jane@x.example`
    expect(identitiesOf(text)).toEqual(["e:jane@x.example"])
  })
})

test("an input may name recipients if its schema, or one that it refers to, has such a field", () => {
  const object = (properties: object) => ({ type: "object", properties })
  const text = { type: "string" }
  const list = object({ messages: { type: "array", items: object({ To: text }) } })
  expect(mayNameRecipients(list)).toBe(true)
  expect(mayNameRecipients([{ $ref: "#/$defs/Mail" }, { Mail: object({ provider_id: text }) }])).toBe(true)
  for (const schema of [
    null,
    object({ url: text, toString: text }),
    object({ topic: { enum: ["to"], default: "to" } })
  ])
    expect(mayNameRecipients(schema)).toBe(false)
})

describe("the repeat guard", () => {
  test("refuses from its number on, and 0 refuses nothing", () => {
    for (let count = 0; count < 12; count++)
      for (const limit of [0, 1, 5, 10])
        expect(repeatRefusal(tries(...Array.from({ length: count }, (_, n) => n)), limit) !== null).toBe(
          limit > 0 && count >= limit
        )
  })
  test("says when enough tries are ten minutes old", () => {
    // Of seven tries, three must be gone before a fifth may come: the third one is from 00:00:30.
    const refusal = repeatRefusal(tries(40, 10, 30, 20, 50, 60, 70), 5)
    expect(refusal?.message).toContain(`00:10:${30 + (repeatSeconds % 60)} UTC`)
    expect(refusal?.message).toContain("run_6")
  })
})

describe("the digest of an input", () => {
  const target = { capability: "email.find" }
  test("knows neither the order of fields nor fields that are null", () => {
    const one = inputHashOf(target, { a: 1, b: { c: [1, 2], d: null } })
    expect(inputHashOf(target, { b: { c: [1, 2] }, a: 1, e: null })).toBe(one)
    for (const other of [{ a: 1, b: { c: [2, 1] } }, { a: "1", b: { c: [1, 2] } }, { a: 1 }, []])
      expect(inputHashOf(target, other)).not.toBe(one)
    expect(inputHashOf({ capability: "email.verify" }, { a: 1, b: { c: [1, 2] } })).not.toBe(one)
  })

  const raw = (domain: string, body: unknown) =>
    requestHashOf({ provider: "hunter", method: "GET", path: "/v2/Search", query: [["domain", domain]] }, body)
  test.each<readonly [object, object]>([
    [{ company_domain: "X.COM" }, { company_domain: "x.com" }],
    [{ include_domains: ["a.com", "B.Example"] }, { include_domains: ["A.COM", "b.example"] }],
    [{ email: "Ada@Example.COM" }, { email: "ada@example.com" }],
    [{ url: "HTTPS://Example.com:8080/a?b=C" }, { url: "https://example.com:8080/a?b=C" }],
    [{ network_url: "https://www.LinkedIn.com/in/Ada-L" }, { network_url: "https://www.linkedin.com/in/ada-l" }],
    [{ target: "X.com" }, { target: "x.com" }],
    [
      { country: "US", language: "PT-br" },
      { country: "us", language: "pt-br" }
    ]
  ])("does not depend on the case where it says nothing: %p", (upper, lower) => {
    expect(inputHashOf(target, upper)).toBe(inputHashOf(target, lower))
    expect(raw("X.COM", [upper])).toBe(raw("x.com", [lower]))
  })
  test.each<readonly [object, object]>([
    [{ full_name: "Ada Lovelace" }, { full_name: "ada lovelace" }],
    [{ company_name: "Booking.com" }, { company_name: "booking.com" }],
    [{ query: "IT jobs" }, { query: "it jobs" }],
    [{ url: "https://example.com/A" }, { url: "https://example.com/a" }],
    [{ url: "https://User@example.com" }, { url: "https://user@example.com" }],
    [{ username_or_email: "Ada" }, { username_or_email: "ada" }],
    [{ network_url: "https://example.com/A" }, { network_url: "https://example.com/a" }],
    [{ cursor: "AbC" }, { cursor: "abc" }]
  ])("depends on the case of names, words and paths: %p", (one, other) => {
    expect(inputHashOf(target, one)).not.toBe(inputHashOf(target, other))
    expect(raw("x.com", one)).not.toBe(raw("x.com", other))
  })
  test("of lower-case inputs is what it was before case was left out", () => {
    expect(inputHashOf(target, { full_name: "Ada", company_domain: "x.com" })).toBe("uQB_0jD5-Vo_W5Mk8_bm9c")
    expect(raw("x.com", { url: "https://x.com/a" })).toBe("GDppLos2rJXgcvxNqI6F_R")
  })
})

describe("the contact guard", () => {
  const contacts = (within_seconds: number | null) => ({
    within_seconds,
    recipients: recipientsOf("email.send", { to: "Ada@Example.com", cc: ["grace@example.com", "ada@example.com"] })
  })
  const at = (seconds: number): Contact => ({ run_id: "run_before", at: BigInt(seconds) * second })
  const refused = (within: number | null, days: number | null, contact: Contact) =>
    contactRefusal(contacts(within), {
      days,
      latest: (identity) => (identity === "e:ada@example.com" ? contact : null),
      now: 1_000_000n * second
    })

  test("names each recipient once, by the identity that history knows", () => {
    expect(contacts(1).recipients.map(({ identities }) => identities)).toEqual([
      ["e:ada@example.com"],
      ["e:grace@example.com"]
    ])
    expect(recipientsOf("network.invite", { network_url: "https://de.linkedin.com/in/Ada-L/", message: "x" })).toEqual([
      { shown: "https://de.linkedin.com/in/Ada-L/", identities: ["n:in/ada-l"] }
    ])
    expect(recipientsOf("email.verify", { email: "ada@example.com" })).toEqual([])
  })
  test("counts a contact up to the end of the longer time", () => {
    expect(refused(null, null, at(999_999))).toBeNull()
    expect(refused(100, null, at(999_901))).not.toBeNull()
    expect(refused(100, null, at(999_900))).toBeNull()
    expect(refused(100, 1, at(999_900))).not.toBeNull()
    expect(refused(null, 1, at(1_000_000 - 86_400))).toBeNull()
    expect(refused(null, 1, at(1_000_000 - 86_399))?.message).toContain("within 1 day;")
  })
  test("ties the identities of one person, and not those of a list", () => {
    const run = {
      capability: "people.enrich",
      input: { network_url: "linkedin.com/in/ada" },
      result: {
        email: "Ada@example.com",
        provider_ids: { unipile: "A1" },
        network_url: "https://www.linkedin.com/in/ada"
      }
    }
    expect(tiesIn(run)[0]?.toSorted()).toEqual(["e:ada@example.com", "member:A1", "n:in/ada", "n:in/ada"])
    const items = [{ email: "a@example.com", network_url: "linkedin.com/in/a" }, { email: "b@example.com" }]
    expect(tiesIn({ capability: "people.search", input: {}, result: { items } })).toEqual([
      ["e:a@example.com", "n:in/a"],
      ["e:b@example.com"]
    ])
    expect(tiesIn({ ...run, capability: "web.search" })).toEqual([])
  })
})

describe("reuse", () => {
  const result = { run_id: "run_a", provider: "hunter", charged: 5n, bytes: 9 }
  test("takes a result, else waits, else buys or ends", () => {
    for (const mode of ["prefer", "only"] as const) {
      expect(decideReuse({ mode }, { result, buyer: "run_b", joins: 0 })).toEqual({ _tag: "Reused", from: result })
      expect(decideReuse({ mode }, { result: null, buyer: "run_b", joins: 0 })).toEqual({
        _tag: "Joined",
        buyer: "run_b"
      })
    }
    expect(decideReuse({ mode: "prefer" }, { result: null, buyer: null, joins: 0 })).toEqual({
      _tag: "Buys",
      claims: true
    })
    expect(decideReuse({ mode: "prefer" }, { result: null, buyer: "run_b", joins: joinsMax })).toEqual({
      ...{ _tag: "Buys", claims: false }
    })
    expect(decideReuse({ mode: "only" }, { result: null, buyer: null, joins: 0 })).toEqual({ _tag: "Missing" })
  })
  test("is off without a request, and thirty days by default", () => {
    expect(plannedReuse(null, undefined)).toEqual({})
    expect(plannedReuse({ mode: "never" }, { allow: { providers: ["hunter"] }, reads: null })).toEqual({})
    expect(plannedReuse({ mode: "only" }, { allow: { providers: ["hunter"] }, reads: null })).toEqual({
      reuse: { mode: "only", max_age_seconds: 2_592_000, providers: ["hunter"] }
    })
    expect(plannedReuse({ mode: "only" }, { allow: { read: "own" }, reads: ["key_a"] })).toEqual({
      reuse: { mode: "only", max_age_seconds: 2_592_000, keys: ["key_a"] }
    })
  })
})
