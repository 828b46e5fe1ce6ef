import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { extract } from "../../src/schema/subjects/Extract.ts"
import { findPhrase } from "../../src/schema/words/Term.ts"
import { figures, timed } from "../kit/app.ts"

/** `=` names the subject, `~` mentions it. */
const shown = (json: unknown) =>
  extract(json)
    .mentions.map(({ key, path, exact }) => `${exact ? "=" : "~"}${key} ${path}`)
    .sort()
const keys = (json: unknown) => extract(json).mentions.map(({ key }) => key)
const exact = (json: unknown) =>
  extract(json)
    .mentions.flatMap(({ key, exact }) => (exact ? [key] : []))
    .sort()

describe("where a subject stands", () => {
  test("an address is also found under its domain and the parents of that", () => {
    expect(shown({ to: ["Ada <ADA@mail.example.co.uk>"] })).toEqual([
      "=e:ada@mail.example.co.uk to[0]",
      "~d:example.co.uk to[0]",
      "~d:mail.example.co.uk to[0]"
    ])
  })

  test("a page is found under its host, a bare host names the domain", () => {
    expect(shown({ url: "https://docs.example.com/a?utm_source=x" })).toEqual([
      "=u:docs.example.com/a url",
      "~d:docs.example.com url",
      "~d:example.com url"
    ])
    expect(shown("https://www.docs.example.com/")).toEqual([
      "=d:docs.example.com ",
      "=u:docs.example.com ",
      "~d:example.com "
    ])
    expect(keys({ url: "http://127.0.0.1/a" })).toEqual(["u:127.0.0.1/a"])
  })

  test("a name beats a mention, and the first of each counts", () => {
    const json = {
      text: "Write to ada@example.com!",
      list: [{ email: "x@example.com" }, { email: "ada@example.com" }, { email: "ada@example.com" }]
    }
    expect(shown(json)).toEqual([
      "=e:ada@example.com list[1].email",
      "=e:x@example.com list[0].email",
      "~d:example.com text"
    ])
  })

  test("paths are readable, whatever the names", () => {
    const json = JSON.parse(
      '{"a.b":{"c d":["x@example.com"]},"__proto__":{"é":"y@example.com"},"":{"constructor":"z@example.com"},"a-b":"w@example.com"}'
    )
    const paths = extract(json)
      .mentions.filter(({ key }) => key.startsWith("e:"))
      .map(({ path }) => path)
    expect(paths).toEqual(['["a.b"]["c d"][0]', '__proto__["é"]', '[""].constructor', "a-b"])
  })

  test("names of a map are subjects, too", () => {
    expect(shown({ "ada@example.com": { score: 1 }, "other.example": true })).toEqual([
      '=d:other.example ["other.example"]',
      '=e:ada@example.com ["ada@example.com"]',
      '=u:other.example ["other.example"]',
      '~d:example.com ["ada@example.com"]'
    ])
  })

  test("a list of addresses names each", () => {
    expect(exact({ to: "Ada <ada@example.com>, bob@example.com; " })).toEqual([
      "e:ada@example.com",
      "e:bob@example.com"
    ])
  })
})

describe("in a longer text", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["Mail ada@example.com.", ["d:example.com", "e:ada@example.com"]],
    [
      "Mail (ada@example.com), 'bob@example.com' or o'brien@example.com",
      ["d:example.com", "e:ada@example.com", "e:bob@example.com", "e:o'brien@example.com"]
    ],
    ['<a href="mailto:ada@example.com?subject=x">write</a>', ["d:example.com", "e:ada@example.com"]],
    ["see https://www.example.com/a(b)?x=1&amp;y=2).", ["d:example.com", "u:example.com/a(b)?x=1&y=2"]],
    [
      "[docs](https://docs.example.com/start) and more",
      ["d:docs.example.com", "d:example.com", "u:docs.example.com/start"]
    ],
    ["at www.example.com, of course", ["d:example.com", "u:example.com"]],
    ["her profile: linkedin.com/in/Ada-Lovelace/ is public", ["d:linkedin.com", "n:in/ada-lovelace"]],
    ["https://de.linkedin.com/in/ada?trk=x\nnext", ["d:de.linkedin.com", "d:linkedin.com", "n:in/ada"]],
    ["find me on x.com/ada or github.com/ada.", ["d:github.com", "d:x.com", "h:*/ada", "h:github/ada", "h:x/ada"]],
    ["https://x.com/ada/status/12 said", ["d:x.com", "h:*/ada", "h:x/ada", "u:x.com/ada/status/12"]],
    ["thanks @ada, and @bob_!", ["h:*/ada", "h:*/bob_", "h:?/ada", "h:?/bob_"]],
    ["Call +1 (202) 555-0143 ext. 5 today", ["p:+12025550143"]],
    ["T: +49 30 1234567 F: 0049 30 1234568", ["p:+49301234567", "p:+49301234568"]],
    ["+1 202 555 0143 2024-11-21", ["p:+12025550143"]],
    [
      "unsubscribe: https://example.com/u?m=ada%40example.org",
      ["d:example.com", "d:example.org", "e:ada@example.org", "u:example.com/u?m=ada@example.org"]
    ],
    ["https://a.example/x,https://b.example/y", ["d:a.example", "d:b.example", "u:a.example/x", "u:b.example/y"]],
    ["メール：ada@example.com。", ["d:example.com", "e:ada@example.com"]],
    ["\u200Fada@exam\u200Bple.com\u202C here", ["d:example.com", "e:ada@example.com"]],
    // Nothing of these is anybody.
    ["icon@2x.png, user@host and a @ b", []],
    ["git clone git@github.com:ada/engine.git", []],
    ["postgres://user:secret@db.example.com/x", []],
    ["npm i @effect/platform@4.1.0 and @scope/x", []],
    ["@media (max-width: 3px) { } @import x", []],
    ["open src/node.js/index or README.md/x and/or e.g./x", []],
    ["id 12025550143, 1700000000000 ms, 00123456789, 19.99", []],
    ["at 2025-11-21T10:00:00+01:00, C++11, GMT+0100, +100%", []],
    ["main.rs lib.py file.zip report.pdf Inc.The", []]
  ]
  test.each(cases)("%s", (text, expected) => {
    const { mentions: found } = extract({ text })
    expect(found.map(({ key }) => key).sort()).toEqual([...expected])
    expect(found.every(({ exact, path }) => !exact && path === "text")).toBe(true)
  })
})

describe("what the fields say", () => {
  const cases: ReadonlyArray<readonly [unknown, ReadonlyArray<string>]> = [
    [{ platform: "instagram", handle: "ada" }, ["h:*/ada", "h:instagram/ada"]],
    [{ platform: "Twitter", username: "@Ada" }, ["h:*/ada", "h:x/ada"]],
    [{ platform: "tiktok", data: { user: { unique_id: "ada" } } }, ["h:*/ada", "h:tiktok/ada"]],
    [{ handle: "ada" }, ["h:*/ada"]],
    [{ twitter: "ada", github: "@grace" }, ["h:*/ada", "h:*/grace", "h:github/grace", "h:x/ada"]],
    [{ instagram_username: "ada", twitterHandle: "bob" }, ["h:*/ada", "h:*/bob", "h:instagram/ada", "h:x/bob"]],
    [{ twitter: { username: "ada" } }, ["h:*/ada", "h:x/ada"]],
    [{ twitter_followers: "ada", twitter_id: "123", x: "ada" }, []],
    [{ username: "two words", handle: "unknown", screen_name: "" }, []],
    [{ profiles: [{ network: "linkedin", username: "ada" }] }, ["n:in/ada"]],
    [{ provider: "LINKEDIN", public_identifier: "ada-lovelace" }, ["n:in/ada-lovelace"]],
    [
      { linkedin: "ada-lovelace", linkedin_id: "123456", company_linkedin_slug: "acme" },
      ["n:company/acme", "n:in/ada-lovelace"]
    ],
    [{ company: { linkedin: "acme" }, person: { linkedin: "ada" } }, ["n:company/acme", "n:in/ada"]],
    [{ network_url: "ada-lovelace" }, ["n:in/ada-lovelace"]],
    [{ phone: "(202) 555-0143", country: "US" }, ["p:+12025550143"]],
    [{ phone: "(202) 555-0143", country: "United States" }, ["p:+12025550143"]],
    [{ phone: 12025550143, country_code: "us" }, ["p:+12025550143"]],
    [{ mobilePhone: "030 1234567", location: { country: "Germany" } }, ["p:+49301234567"]],
    [{ phone: "030 1234567", region: "DE" }, ["p:+49301234567"]],
    [
      { country_code: "DE", contact: { phones: [{ number: "030 1234567" }, "030 1234568"] } },
      ["p:+49301234567", "p:+49301234568"]
    ],
    [{ country: "DE", branch: { country: "AT", tel: "01 2345678" } }, ["p:+4312345678"]],
    [{ calling_country_code: "1", whatsapp: "2025550143" }, ["p:+12025550143"]],
    [{ fax: "0049301234567" }, ["p:+49301234567"]],
    // Without a country, a national number rings anywhere.
    [{ phone: "(202) 555-0143" }, []],
    [{ phone: "12025550143" }, []],
    [{ id: 12025550143, country: "US" }, []],
    [{ id: "2025550143", zip: "2025550143", created: 1700000000, country: "US" }, []],
    [
      {
        phone_id: "2025550143",
        phone_status: "active",
        has_phone: "2025550143",
        phone_count: 2025550143,
        country: "US"
      },
      []
    ],
    [{ reference: "0049301234567" }, []],
    [{ domain: "docs.rs", name: "main.rs" }, ["d:docs.rs", "u:docs.rs"]],
    [
      { website: "acme.io", hostname: "db.acme.internal" },
      ["d:acme.io", "d:db.acme.internal", "u:acme.io", "u:db.acme.internal"]
    ],
    [{ domain: "acme", website: "n/a", url: "report.pdf" }, []],
    [{ email: "ada@build.zzz" }, ["e:ada@build.zzz"]],
    [{ note: "ada@build.zzz" }, []]
  ]
  test.each(cases)("%j", (json, expected) => expect(exact(json)).toEqual([...expected]))

  test("an account of no known platform may be any platform's", () => {
    expect(shown({ handle: "ada" })).toEqual(["=h:*/ada handle", "~h:?/ada handle"])
  })
})

describe("the text of a value", () => {
  const json = {
    name: "Ada  LOVELACE",
    notes: ["first\nprogrammer", { id: 12025550143, score: 7 }],
    none: null,
    ok: true
  }

  test("holds a phrase as whole words, at a path", () => {
    expect(findPhrase(json, "ada lovelace")).toEqual({ path: "name", exact: true })
    expect(findPhrase(json, "programmer")).toEqual({ path: "notes[0]", exact: false })
    expect(findPhrase({ a: "I met Ada", b: "ada" }, "ada")).toEqual({ path: "b", exact: true })
    expect(findPhrase({ a: "Hannah" }, "ann")).toBeNull()
    expect(findPhrase(json, "lovelace first")).toBeNull()
  })

  test("holds a phrase whatever separates its words, as the index of words does", () => {
    const run = { phone: "call (415) 555-2671", url: "https://x.example/in/maria-silva", other: "ada@one.example" }
    expect(findPhrase(run, "415 555 2671")).toEqual({ path: "phone", exact: false })
    expect(findPhrase(run, "maria silva")).toEqual({ path: "url", exact: false })
    expect(findPhrase(run, "one.example")).toEqual({ path: "other", exact: false })
    // Words that are tied without a blank are no words of a sentence.
    expect(findPhrase(run, "ada one")).toBeNull()
    expect(findPhrase(run, "silva maria")).toBeNull()
    expect(findPhrase(run, "aria silva")).toBeNull()
    expect(findPhrase({ a: "maria-silva", b: "Maria Silva" }, "maria silva")).toEqual({ path: "b", exact: true })
  })
})

const examples = join(import.meta.dir, "..", "fixtures", "payloads")

test("results of providers are read fast", async () => {
  const payloads: Array<unknown> = []
  let bytes = 0
  for (const file of new Bun.Glob("*/*.json").scanSync(examples)) {
    const text = await Bun.file(join(examples, file)).text()
    bytes += text.length
    payloads.push(JSON.parse(text))
  }
  let found = 0
  const pass = () => {
    found = 0
    for (const payload of payloads) found += extract(payload).mentions.length
  }
  pass()
  const { millis } = await timed(async () => pass())
  figures("subject.extract", {
    payloads: payloads.length,
    kilobytes: Math.round(bytes / 1_000),
    found,
    millis: Math.round(millis),
    megabytes_per_second: Math.round(bytes / 1_000 / millis)
  })
  expect(found).toBeGreaterThan(900)
  expect(payloads.every((payload) => extract(payload).complete)).toBe(true)
})
