import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { extract } from "../../src/schema/subjects/Extract.ts"
import { detect, type SubjectKind, kinds, queryKeys, readAs } from "../../src/schema/subjects/Subject.ts"
import { figures } from "../kit/app.ts"
import { different, same } from "./subject-pairs.ts"

const keysIn = (json: unknown) => new Set(extract(json).mentions.map(({ key }) => key))
const matches = (json: unknown, keys: ReadonlyArray<string>) => keys.some((key) => keysIn(json).has(key))
const keysOf = (value: string) => {
  const subject = detect(value)
  return subject === null ? [] : queryKeys(subject)
}

describe("one subject in many forms", () => {
  for (const { kind, normalized, detected, forced = [] } of same) {
    test(`${kind} ${normalized}`, () => {
      const expected = { kind, normalized }
      for (const form of detected) expect({ form, read: detect(form) }).toEqual({ form, read: expected })
      for (const form of [...detected, ...forced, normalized]) {
        expect({ form, read: readAs(form, kind) }).toEqual({ form, read: expected })
      }
    })
  }

  test("there are enough of them", () => {
    const pairs = same.reduce((sum, { detected, forced = [] }) => sum + detected.length + forced.length, 0)
    figures("subject.pairs", { same: pairs, different: different.length })
    expect(pairs).toBeGreaterThan(200)
  })

  test("each form is found by a question in each other form", () => {
    for (const { kind, detected } of same.filter(({ kind }) => kind !== "text")) {
      for (const value of detected) {
        // Digits alone are an identifier, until a field says otherwise.
        const json = /^\d+$/.test(value) ? { phone: value } : { note: value }
        const found = keysIn(json)
        for (const asked of detected) {
          const subject = readAs(asked, kind)
          const keys = subject === null ? [] : queryKeys(subject)
          expect({ value, asked, hit: keys.some((key) => found.has(key)) }).toEqual({ value, asked, hit: true })
        }
      }
    }
  })
})

describe("subjects that only look alike", () => {
  test.each(different.map(([one, other]) => [one, other] as const))("%s is not %s", (one, other) => {
    expect(detect(one)).not.toEqual(detect(other))
    // A domain covers what is on it, so only the exact ones count.
    const exact = (json: string) => new Set(extract([json]).mentions.flatMap(({ key, exact }) => (exact ? [key] : [])))
    expect(keysOf(other).filter((key) => exact(one).has(key))).toEqual([])
    expect(keysOf(one).filter((key) => exact(other).has(key))).toEqual([])
  })
})

describe("a forced kind", () => {
  const refused: ReadonlyArray<[string, SubjectKind]> = [
    ["hello", "email"],
    ["https://example.com/", "email"],
    ["ada@", "email"],
    ["@example.com", "email"],
    ["ada lovelace@example.com", "email"],
    ["a@b@example.com", "email"],
    ["ada@co.uk", "email"],
    ["hello", "domain"],
    ["localhost", "domain"],
    ["co.uk", "domain"],
    ["127.0.0.1", "domain"],
    ["http://[::1]/", "domain"],
    ["two words.com", "domain"],
    ["-a.com", "domain"],
    ["a..com", "domain"],
    [`${"a".repeat(64)}.com`, "domain"],
    ["https://example.com/in/ada", "network"],
    ["https://linkedin.com/jobs/view/1", "network"],
    ["https://linkedin.com/", "network"],
    ["ada@example.com", "network"],
    ["ada lovelace", "network"],
    ["ada@example.com", "url"],
    ["hello", "url"],
    ["and/or", "url"],
    ["http://", "url"],
    ["http://a b.com/", "url"],
    ["https://example.com/ and more", "url"],
    ["ftp://example.com/", "url"],
    ["https://example.com/ada", "handle"],
    ["ada@example.com", "handle"],
    ["two words", "handle"],
    ["myspace/ada", "handle"],
    ["@", "handle"],
    ["hello", "phone"],
    ["202 555 0143", "phone"],
    ["2025550143", "phone"],
    ["+1", "phone"],
    ["+999 123 456 789", "phone"],
    ["call +1 202 555 0143 now", "phone"],
    ["", "text"],
    ["\u200B", "text"],
    ["x".repeat(2_001), "text"]
  ]
  test.each(refused)("%s is no %s", (value, kind) => expect(readAs(value, kind)).toBeNull())

  test("nothing and too much are nothing", () => {
    for (const value of [
      "",
      "   ",
      "\u200B\uFEFF",
      "\u0000",
      "x".repeat(2_001),
      `https://example.com/${"a".repeat(2_000)}`
    ]) {
      expect(detect(value)).toBeNull()
    }
  })
})

describe("questions", () => {
  const json = {
    mail: "ada@mail.example.com",
    page: "https://docs.example.com/start",
    account: "https://x.com/ada",
    post: "https://x.com/grace/status/1",
    someone: "@bob"
  }
  const yes: ReadonlyArray<string> = [
    "example.com",
    "mail.example.com",
    "docs.example.com",
    "ada@mail.example.com",
    "http://www.docs.example.com/start/",
    "@ada",
    "twitter.com/ada",
    "x.com",
    "@grace",
    "@bob",
    "x.com/bob"
  ]
  const no: ReadonlyArray<string> = [
    "ada@example.com",
    "www2.example.com",
    "instagram.com/ada",
    "example.com/start",
    "twitter.com"
  ]
  test.each(yes)("%s is found", (asked) => expect(matches(json, keysOf(asked))).toBe(true))
  test.each(no)("%s is not", (asked) => expect(matches(json, keysOf(asked))).toBe(false))

  test("a question for a subdomain does not match what is on its parent", () => {
    expect(matches({ mail: "ada@example.com", page: "https://example.com/" }, keysOf("mail.example.com"))).toBe(false)
  })

  test("a page that is asked for as a URL is found, though it is a profile or a domain", () => {
    for (const url of [
      "https://www.linkedin.com/in/ada/",
      "https://x.com/ada",
      "https://example.com/",
      "https://wa.me/12025550143",
      "https://example.com/a"
    ]) {
      const subject = readAs(url, "url")
      expect({ url, hit: matches([url], subject === null ? [] : queryKeys(subject)) }).toEqual({ url, hit: true })
    }
    const home = readAs("https://example.com/", "url")
    expect(matches(["ada@example.com"], home === null ? [] : queryKeys(home))).toBe(false)
  })

  test("long keys are hashed, and still tell apart", () => {
    const [one, other] = ["a", "b"].map((end) => keysOf(`https://example.com/${"x".repeat(1_500)}${end}`))
    expect(one?.[0]?.length).toBeLessThanOrEqual(300)
    expect(one).not.toEqual(other)
    expect(keysIn([`http://www.example.com/${"x".repeat(1_500)}a/`]).has(one?.[0] ?? "")).toBe(true)
  })
})

describe("any string", () => {
  const parts = fc.constantFrom(
    ...[
      "@",
      ".",
      "/",
      ":",
      "://",
      "http",
      "www.",
      "+1",
      "00",
      " ",
      "%",
      "%2",
      "%25",
      "%41",
      "?",
      "#",
      "#!",
      "&",
      "=",
      "<",
      ">",
      '"',
      "ß",
      "İ",
      "ς"
    ],
    ...[
      "example.com",
      "linkedin.com/in/",
      "x.com/",
      "ada",
      "ü",
      "u\u0308",
      "\u200B",
      "\uD800",
      "ﬁ",
      "ŉ",
      "5",
      "2025550143",
      "-",
      "_",
      "(",
      ")",
      "..",
      "[",
      "]",
      "\u0000"
    ]
  )
  const strings = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(parts, { maxLength: 12 }).map((all) => all.join("")),
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.emailAddress()
  )

  test("reads to a subject that reads to itself, of whatever kind", () => {
    fc.assert(
      fc.property(strings, fc.constantFrom(...kinds), (value, kind) => {
        for (const subject of [detect(value), readAs(value, kind)]) {
          if (subject === null) continue
          expect(readAs(subject.normalized, subject.kind)).toEqual(subject)
          expect(subject.normalized.isWellFormed() && !subject.normalized.includes("\u0000")).toBe(true)
          for (const key of queryKeys(subject)) expect(key.length).toBeLessThanOrEqual(300)
        }
      }),
      { numRuns: 5_000 }
    )
  })

  test("of any letter reads alike twice", () => {
    const unstable: Array<string> = []
    for (let code = 0; code < 0x1_0000; code++) {
      const letter = String.fromCharCode(code)
      const forms: ReadonlyArray<[string, SubjectKind]> = [
        [`a${letter}`, "text"],
        [`a${letter}b@example.com`, "email"],
        [`in/a${letter}b`, "network"]
      ]
      for (const [form, kind] of forms) {
        const subject = readAs(form, kind)
        if (subject !== null && readAs(subject.normalized, kind)?.normalized !== subject.normalized) unstable.push(form)
      }
    }
    expect(unstable).toEqual([])
  })

  test("is found where it stands, when it is asked for as it was written", () => {
    fc.assert(
      fc.property(strings, (value) => {
        const subject = detect(value)
        if (subject === null || subject.kind === "text" || /^00\d+$/.test(value.trim())) return
        const { mentions: found } = extract({ deep: [{ field: value }] })
        const hit = found.find(({ key }) => queryKeys(subject).includes(key))
        expect(hit).toMatchObject({ path: "deep[0].field", exact: true })
      }),
      { numRuns: 5_000 }
    )
  })
})
