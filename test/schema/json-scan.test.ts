import { shortened } from "../../src/schema/json/StorableText.ts"
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { containersMax, depthMax, isStorable, jsonFlaw, unstorableIn } from "../../src/schema/json/JsonScan.ts"

const flaw = (text: string) => jsonFlaw(new TextEncoder().encode(text))
const nested = (levels: number, inside = "") => `${"[".repeat(levels)}${inside}${"]".repeat(levels)}`

/** The same question asked of the parsed value. */
const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

describe("the scan before parsing", () => {
  test("counts levels, not brackets", () => {
    expect(flaw(nested(depthMax))).toBeNull()
    expect(flaw(nested(depthMax + 1))).toBe("too_deep")
    expect(flaw('{"a":'.repeat(depthMax + 1))).toBe("too_deep")
    expect(flaw(`[${"[],".repeat(1_000)}[]]`)).toBeNull()
    expect(flaw("[".repeat(400_000))).toBe("too_deep")
  })

  test("does not count brackets in strings, whatever is escaped there", () => {
    const brackets = "[{".repeat(1_000)
    for (const text of [brackets, `\\${brackets}`, `"${brackets}`, `\\"${brackets}`, `${brackets}\\`, `é${brackets}`])
      expect(flaw(JSON.stringify([text]))).toBeNull()
    expect(flaw(`["\\\\",${nested(depthMax)}]`)).toBe("too_deep")
    expect(flaw(`["\\"",${nested(depthMax)}]`)).toBe("too_deep")
  })

  test("bounds the number of objects and arrays", () => {
    expect(flaw(`[${Array.from({ length: containersMax - 1 }, () => "[]").join(",")}]`)).toBeNull()
    expect(flaw(`[${Array.from({ length: containersMax }, () => "{}").join(",")}]`)).toBe("too_many")
  })

  test("finds NUL and halves of surrogate pairs, and nothing else", () => {
    for (const text of [
      '"\\u0000"',
      '"a\0"',
      '"\\ud83d"',
      '"\\uDE00"',
      '"\\ud83dx"',
      '"\\ud83d\\ud83d"',
      '{"\\u0000":1}'
    ])
      expect([text, flaw(text)]).toEqual([text, "unstorable"])
    for (const text of [
      '"\\\\u0000"',
      '"\\u0001"',
      '"\\ud83d\\uDE00"',
      '"\\\\ud83d"',
      '"\\u00e9"',
      JSON.stringify("😀")
    ])
      expect([text, flaw(text)]).toEqual([text, null])
  })

  test("agrees with the parser on any JSON", () => {
    const strings = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.constantFrom("\0", "\ud800", "\udc00x", '"\\[')
    )
    const json = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 6 }, strings, fc.integer(), tie("list"), tie("object")),
      list: fc.array(tie("value"), { maxLength: 4 }),
      object: fc.dictionary(strings, tie("value"), { maxKeys: 4 })
    }))
    fc.assert(
      fc.property(json.value, fc.nat(70), (value, levels) => {
        const text = nested(levels, JSON.stringify(value))
        const parsed: unknown = JSON.parse(text)
        const storable = unstorableIn(parsed) === null
        const deep = depthOf(parsed) > depthMax
        const found = flaw(text)
        expect(found === null).toBe(storable && !deep)
        if (found === "too_deep") expect(deep).toBe(true)
        if (found === "unstorable") expect(storable).toBe(false)
      }),
      { numRuns: 500 }
    )
  })

  test("never fails on bytes that are no JSON", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void jsonFlaw(bytes)),
      { numRuns: 500 }
    )
    for (const text of ["", '"\\', '"\\u', '"\\u00', '"\\ud83d\\u', "]]]]", '"']) expect(() => flaw(text)).not.toThrow()
  })
})

describe("the field of a string that can't be stored", () => {
  test("is named by its path", () => {
    expect(unstorableIn({ a: [1, { b: "x\0" }] })).toBe("a.1.b")
    expect(unstorableIn({ a: { "b\0": 1 } })).toBe("a")
    expect(unstorableIn("\ud800")).toBe("")
    expect(unstorableIn({ a: ["x", null, 1, true] })).toBeNull()
    expect(isStorable("😀é\u0001")).toBe(true)
  })
})

test("a text that is shortened has no half of an emoji, and no ellipsis if it fits", () => {
  expect(shortened("ab😀c", 3)).toBe("ab\ufffd…")
  expect(shortened("ab😀c", 4)).toBe("ab😀…")
  expect(shortened("ab😀c", 5)).toBe("ab😀c")
})
