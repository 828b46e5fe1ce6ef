/**
 * Most values are written plainly and read by a short way; the long way is for all others. Both must give the same, or what is indexed depends on
 * how it was written. Each value here is read as it is, and once more with something around it that means nothing but leads the long way.
 */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { resultSubjects, mailedSubjects } from "../../src/layers/Subjects.ts"
import { extract } from "../../src/schema/subjects/Extract.ts"
import { detect, nothingSaid, readValue } from "../../src/schema/subjects/Subject.ts"
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
const read = (value: string) => readValue(value, nothingSaid)
const found = (json: unknown) => extract(json).found.map(({ key, exact }) => [key, exact])

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

test("the mail holds the rows of a result, whatever its fields are called", () => {
  const strange = ["\u0001", 'a"b', "a\\b", "\n", "\uD800", "é", "__proto__", "x".repeat(400), "😀".repeat(200)]
  const result = JSON.stringify(
    strange.map((name, n) => ({ [name]: { [name]: [`ada${n}@example.com`, "+12025550143"] } }))
  )
  const rows = resultSubjects("org", result)
  expect(rows.length).toBeGreaterThan(strange.length)
  const { keys, places } = mailedSubjects("org", result) ?? { keys: "", places: "" }
  expect(keys.split(",")).toEqual(rows.map(({ subject }) => String(subject)))
  expect(places.split("\u0001")).toEqual(rows.map(({ exact, path }) => `${exact ? 1 : 0}${path}`))
  expect([mailedSubjects("org", '{"nothing":[]}'), mailedSubjects("org", null)]).toEqual([null, null])
})
