/**
 * Most values are written plainly and read by a short way; the long way is for all others. Both must give the same, or what is indexed depends on
 * how it was written. Each value here is read as it is, and once more with something around it that means nothing but leads the long way.
 */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { eachSubject, placeOf } from "../../src/layers/history/index/Subjects.ts"
import { named, recipient } from "../../src/schema/segments/Segment.ts"
import { extract } from "../../src/schema/subjects/Extract.ts"
import { detect, noHints, readValue } from "../../src/schema/subjects/Subject.ts"
import { readUrl } from "../../src/schema/subjects/Url.ts"
import { same } from "./subject-pairs.ts"

const invisible = "\u200B"
const forms = same.flatMap(({ normalized, detected, forced }) => [normalized, ...detected, ...(forced ?? [])])
const piece = fc.constantFrom(
  ...[
    "ada",
    "Ada",
    "u/",
    "x",
    "example",
    ".com",
    ".co.uk",
    ".md",
    ".",
    "..",
    "@",
    "www.",
    "https://",
    "HTTP://",
    "//",
    "/",
    "?a=1",
    "&b=2",
    "#!/x"
  ],
  ...[
    "tel:",
    "mailto:",
    "+49",
    "0049",
    "30",
    "1",
    "(",
    ")",
    "<",
    ">",
    "[",
    "]",
    '"',
    "'",
    ",",
    ";",
    ":",
    "!",
    "-",
    "_",
    "%40",
    "%",
    "xn--",
    " ",
    "\n",
    "é"
  ]
)
const pieces = fc.oneof(
  fc.array(piece, { minLength: 1, maxLength: 8 }).map((parts) => parts.join("")),
  fc.tuple(fc.constantFrom(...forms), piece).map(([form, one]) => `${form}${one}`),
  fc.tuple(piece, fc.constantFrom(...forms)).map(([one, form]) => `${one}${form}`)
)
const read = (value: string) => readValue(value, noHints)
const found = (json: unknown) => extract(json).mentions.map(({ key, exact }) => [key, exact])

describe("the short way and the long way agree", () => {
  test("about whole values", () => {
    for (const form of forms) expect([form, read(`${form}${invisible}`)]).toEqual([form, read(form)])
    for (const nobody of ["a..b@example.com", ".a@example.com", "a.@example.com"])
      expect(detect(nobody)?.kind).not.toBe("email")
    fc.assert(
      fc.property(pieces, (value) => expect(read(`${value}${invisible}`)).toEqual(read(value))),
      { numRuns: 6_000 }
    )
  })

  test("about values in a text, and texts that mention nobody", () => {
    const words = fc.array(fc.oneof(fc.constantFrom("an", "engine", "makes", "50%", "a/b", "it.", "e.g."), pieces), {
      minLength: 2,
      maxLength: 6
    })
    fc.assert(
      fc.property(words, (parts) => {
        const text = parts.join(" ")
        // Lists and the mailboxes in a URL are read with what is invisible in them.
        fc.pre(text.length > 5 && !/:\/\/|[,;]/.test(text))
        expect(found({ note: `${text}${invisible}` })).toEqual(found({ note: text }))
      }),
      { numRuns: 3_000 }
    )
  })

  test("about pages: a scheme's own port is left out by the URL parser alone", () => {
    const label = fc.oneof(fc.stringMatching(/^[a-z0-9]{1,8}$/), fc.constantFrom("xn--mnchen-3ya", "xn--a", "XN--0"))
    const host = fc
      .tuple(label, fc.constantFrom("com", "co.uk", "md", "example", "nowhere", "b00", "x1"))
      .map((labels) => labels.join("."))
    const path = fc.stringMatching(/^(\/[\w.~!$&'()*+,;=:@-]{0,6}){0,4}(\?[\w.~!$&()*+,;=:@/-]{0,12})?$/)
    fc.assert(
      fc.property(fc.constantFrom("https://", "//", ""), host, path, (scheme, name, rest) => {
        for (const loose of [false, true])
          expect(readUrl(`${scheme}${name}:80${rest}`, loose)).toEqual(readUrl(`${scheme}${name}${rest}`, loose))
      }),
      { numRuns: 3_000 }
    )
  })
})

test("more hosts than are remembered give the same again", () => {
  const names = Array.from({ length: 1_000 }, (_, n) => `host${n}.example.com`)
  const once = names.map((name) => detect(name))
  expect(names.map((name) => detect(name))).toEqual(once)
  expect(once[0]).toEqual({ kind: "domain", normalized: "host0.example.com" })
})

test("what the index is told of a run is found in it again, whatever its fields are called", () => {
  const strange = ["\u0001", 'a"b', "a\\b", "\n", "\uD800", "é", "__proto__", "x".repeat(400), "😀".repeat(200), "to"]
  const people = strange.map((name, n) => ({ [name]: { [name]: [`ada${n}@example.com`, "about +12025550143"] } }))
  const input = { [strange[3] ?? ""]: people.slice(0, 3), to: ["bob@example.com"], text: "ada1@example.com, ada2@x.co" }
  for (const capability of ["email.send", "email.find", null]) {
    const run = {
      capability,
      input,
      plan: { raw: { path: "/p/eve%40x.co", query: [["q", "ada7@example.com"]] } },
      result: people
    }
    const told = new Map<string, number>()
    eachSubject(run, (key, flags) => told.set(key, (told.get(key) ?? 0) | flags))
    const mentioned = [...extract(people).mentions, ...extract(input).mentions].map(({ key }) => key)
    expect(mentioned.filter((key) => !told.has(key))).toEqual([])
    expect(mentioned.length).toBeGreaterThan(strange.length)
    for (const [key, flags] of told) {
      const place = placeOf(run, [key])
      expect([key, place?.exact === true && !place.in_result]).toEqual([key, (flags & named) !== 0])
      // By a key that is nowhere in it, the same.
      expect(placeOf(run, ["e:nobody@nowhere.example", key])).toEqual(place)
    }
    const to = [...told].flatMap(([key, flags]) => ((flags & recipient) === 0 ? [] : [key]))
    expect(to).toEqual(capability === "email.send" ? extract({ to: input.to }).mentions.map(({ key }) => key) : [])
    expect([told.has("e:eve@x.co"), placeOf(run, ["e:nobody@nowhere.example"])]).toEqual([capability === null, null])
  }
})

test("one domain is found where it is found among all, though most texts are passed over", () => {
  const text = fc.array(fc.oneof(piece, fc.constantFrom(...forms)), { maxLength: 8 }).map((parts) => parts.join(""))
  const domains = (json: unknown) => extract(json).mentions.filter(({ key }) => key.startsWith("d:"))
  const agree = (json: unknown) => {
    for (const one of domains(json))
      expect(extract(json, { keys: new Set([one.key]), within: one.key.slice(2) }).mentions).toEqual([one])
    return domains(json).length
  }
  let found = 0
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (texts) => {
      found += agree({ note: texts, website: texts[0], email: texts.at(-1), [texts[0] ?? ""]: texts.length })
    }),
    { numRuns: 3_000 }
  )
  for (const form of forms) found += agree({ value: form, text: `see ${form} (${form})` })
  expect(found).toBeGreaterThan(3_000)
  // An address on it, its page, and its own name in another spelling.
  const spelled = [
    "ADA@BÜCHER.example",
    "https://xn--bcher-kva.example/x",
    "bu\u0308cher.example",
    "b%C3%BCcher.example"
  ]
  expect(agree(spelled)).toBeGreaterThan(0)
})
