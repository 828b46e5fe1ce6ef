import { afterAll, describe, expect, test } from "bun:test"
import fc from "fast-check"
import { extract } from "../../../src/schema/subjects/Extract.ts"
import { findPhrase } from "../../../src/schema/words/Term.ts"
import { detect } from "../../../src/schema/subjects/Subject.ts"
import { figures } from "../../kit/app.ts"
import { howMany } from "../../kit/input-samples.ts"

const million = 1_000_000
/** A megabyte: what takes more than linear time shows in a quarter of it, too. */
const long = howMany(million, million / 4)
const filled = (part: string, length = long) => part.repeat(Math.ceil(length / part.length)).slice(0, length)

/** What would make a reader go back and forth, if it could. */
const texts: Readonly<Record<string, string>> = {
  letters: filled("a"),
  spaces: filled(" "),
  ats: filled("@"),
  "a@": filled("a@"),
  "a.a@": filled("a.a@a.a"),
  mentions: filled(" @ada"),
  addresses: filled("ada@example.com "),
  "addresses without blanks": filled("ada@example.com"),
  "long locals": filled(`${"a".repeat(63)}@`),
  "long hosts": filled(`@${"a.".repeat(120)}`),
  dots: filled("."),
  "dotted words": filled(".com/"),
  hosts: filled("example.com/"),
  "hosts in brackets": filled("(example.com/"),
  www: filled("www."),
  "www in brackets": filled("(www.x"),
  "www in commas": filled(",www.x"),
  schemes: filled("http://"),
  "schemes apart": filled(" http://"),
  "foreign schemes": filled("a://b"),
  colons: filled("://"),
  urls: filled("https://example.com/a?b=1&c=2 "),
  "long urls": filled(`https://example.com/${"a".repeat(1_950)} `),
  parameters: filled(`https://example.com/?${"&a=".repeat(600)} `),
  brackets: filled(`https://example.com/${")".repeat(1_900)} `),
  escapes: filled(`https://example.com/${"%".repeat(1_900)} `),
  pluses: filled("+"),
  "+1": filled("+1"),
  "+1 1": filled("+1 1 1 1 1 1 1 "),
  phones: filled("+1 202 555 0143 "),
  zeros: filled("0"),
  "001": filled("001"),
  surrogates: filled("\uD800@\uDC00"),
  invisible: filled("a\u200B@\u202Eb"),
  combining: filled("e\u0301"),
  expanding: filled("\uFDFA"),
  nul: filled("\u0000"),
  quotes: filled('"'),
  angles: filled("<a@"),
  wide: filled("李明@例え.jp ")
}

describe("a long text of", () => {
  const slowest = { name: "", millis: 0 }
  for (const [name, text] of Object.entries(texts)) {
    test(name, () => {
      const begun = performance.now()
      const { mentions: found } = extract({ text })
      const short = extract(Array.from({ length: 500 }, (_, n) => text.slice(n * 1_999, (n + 1) * 1_999)))
      const millis = performance.now() - begun
      if (millis > slowest.millis) Object.assign(slowest, { name, millis: Math.round(millis) })
      expect(Math.max(found.length, short.mentions.length)).toBeLessThanOrEqual(5_000)
      detect(text.slice(0, 2_000))
      findPhrase(text, "nothing of it")
      expect(millis).toBeLessThan(20_000)
    })
  }
  afterAll(() => figures("subject.hostile", slowest))
})

describe("a value that is", () => {
  const nested = (depth: number, wrap: (inner: unknown) => unknown): unknown => {
    let value: unknown = "deep@example.com"
    for (let n = 0; n < depth; n++) value = wrap(value)
    return value
  }

  test("nested 100,000 deep", () => {
    for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ inner, mail: "ada@example.com" })]) {
      const { mentions: found, complete } = extract(nested(100_000, wrap))
      expect(complete).toBe(false)
      expect(found.some(({ key }) => key === "e:deep@example.com")).toBe(false)
    }
    expect(extract(nested(50, (inner) => [inner]))).toMatchObject({
      complete: true,
      mentions: [{ key: "e:deep@example.com" }, {}]
    })
  })

  test("made of a million parts", () => {
    const many = Array.from({ length: million }, (_, index) => index)
    expect(extract(many)).toEqual({ mentions: [], complete: false })
    expect(extract(["first@example.com", ...many]).mentions[0]?.key).toBe("e:first@example.com")
    const names = Object.fromEntries(many.slice(0, 300_000).map((n) => [`name_${n}`, n]))
    expect(extract(names).complete).toBe(false)
  })

  test("full of subjects", () => {
    const { mentions: found, complete } = extract(Array.from({ length: 20_000 }, (_, n) => `a${n}@b${n}.com`))
    expect(found.length).toBe(5_000)
    expect(complete).toBe(false)
  })

  test("full of phone numbers, mentions or fields of numbers", () => {
    const numbers = Array.from({ length: 100_000 }, (_, n) => String(2025550143 + n))
    const values: ReadonlyArray<unknown> = [
      { country: "US", phones: numbers },
      numbers.map((number) => `+1${number}`),
      numbers.map((number) => `+1 ${number}`).join(" or "),
      numbers.map((number) => `@ada${number}`).join(" ")
    ]
    for (const value of values) {
      const { mentions: found, complete } = extract(value)
      expect(found.length).toBeGreaterThan(1_000)
      expect(complete).toBe(false)
    }
  })

  test("longer than is read", () => {
    const { mentions: found, complete } = extract(`ada@example.com ${filled("x ", 2 * million)} bob@example.com`)
    expect([found[0]?.key, found.length, complete]).toEqual(["e:ada@example.com", 2, false])
    expect(extract(Array.from({ length: 10 }, () => filled("x ", 900_000))).complete).toBe(false)
  })

  test("named strangely", () => {
    const json = JSON.parse(
      `{"__proto__":{"email":"a@example.com"},"constructor":"b@example.com","toString":"c@example.com","\\u0000":"d@example.com","${"n".repeat(5_000)}":{"x":"e@example.com"}}`
    )
    const found = extract(json).mentions.filter(({ exact }) => exact)
    expect(found.map(({ key }) => key)).toEqual(["a", "b", "c", "d", "e"].map((name) => `e:${name}@example.com`))
    for (const { path } of found) {
      expect(path.length).toBeLessThanOrEqual(420)
      expect(path.includes("\u0000")).toBe(false)
    }
    expect(extract({}).mentions).toEqual([])
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  test("made of numbers that are nothing", () => {
    const table = Array.from({ length: 40_000 }, (_, n) => `${n}001 ${n}.50`).join(",")
    const { mentions: found, complete } = extract([table, "ada@example.com"])
    expect([found[0]?.key, complete]).toEqual(["e:ada@example.com", true])
  })

  test("nothing", () => {
    for (const json of [
      null,
      undefined,
      true,
      0,
      Number.NaN,
      "",
      [],
      {},
      [null, [undefined]],
      Symbol.iterator,
      () => 1
    ]) {
      expect(extract(json)).toEqual({ mentions: [], complete: true })
    }
  })

  test("any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: "binary" }), (json) => {
        const { mentions: found } = extract(json)
        expect(new Set(found.map(({ key }) => key)).size).toBe(found.length)
        for (const { key, path } of found) {
          expect(/^[deupnh]:./.test(key) && key.length <= 300 && key.isWellFormed()).toBe(true)
          expect(path.isWellFormed() && !path.includes("\u0000")).toBe(true)
        }
      }),
      { numRuns: howMany(3_000, 1_000) }
    )
  })
})
