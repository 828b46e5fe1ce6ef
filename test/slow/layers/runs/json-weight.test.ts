/** Answers that would block the process are refused before they are parsed: too deep, too many values, too many different strings and names. */
import { describe, expect, test } from "bun:test"
import { depthMax, jsonWeight, parseLimit } from "../../../../src/layers/runs/JsonWeight.ts"

const largest = 32 * 1024 * 1024
/** The largest answer through an own account. */
const ownLargest = 2 * 1024 * 1024

/** Fed in pieces, as an answer arrives. */
const weigh = (text: string, pieceBytes = 65_536, bytesMax = largest): string | null => {
  const weight = jsonWeight(bytesMax)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const refused = weight.add(bytes.subarray(at, at + pieceBytes))
    if (refused !== null) return refused
  }
  return null
}
const begins = (text: string, pieceBytes = 1) => {
  const weight = jsonWeight(largest)
  for (const byte of Buffer.from(text)) weight.add(Uint8Array.from(Array.from({ length: pieceBytes }, () => byte)))
  return weight.begins()
}
const list = (count: number, item: (n: number) => string) =>
  `[${Array.from({ length: count }, (_, n) => item(n)).join()}]`
const tooManyFor = (bytesMax: number) => `of more values than can be parsed within ${parseLimit(bytesMax)} ms`
const tooMany = tooManyFor(largest)
const tooDeep = `nested deeper than ${depthMax} levels`

describe("the first character of an answer", () => {
  test.each([
    ['{"a":1}', true],
    ["[1]", true],
    [" \n\r\t[", true],
    ["\ufeff{", true],
    ["\ufeff \n{", true],
    ["7", false],
    ['"["', false],
    ["<html>[", false],
    [" 7 [", false],
    ["]", false],
    ["}", false],
    ["", null],
    [" \n\r\t", null],
    ["\ufeff", null]
  ])("says whether %j is an object or an array", (text, expected) => {
    expect(begins(text)).toBe(expected)
    const whole = jsonWeight(largest)
    whole.add(Buffer.from(text))
    expect(whole.begins()).toBe(expected)
  })

  test("is all that is read of another text", () => {
    expect(weigh(`x${"[".repeat(depthMax + 1)}`, 7)).toBeNull()
  })
})

describe("an answer is refused by its depth", () => {
  const nested = (open: string, close: string, levels: number) => `${open.repeat(levels)}${close.repeat(levels)}`

  test.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
    ["arrays in objects", '{"a":[', "]}"]
  ])("when its %s are nested deeper than the limit", (_name, open, close) => {
    const perLevel = open.includes("[") && open.includes("{") ? 2 : 1
    expect(weigh(nested(open, close, depthMax / perLevel))).toBeNull()
    expect(weigh(nested(open, close, depthMax / perLevel + 1))).toBe(tooDeep)
  })

  test("and not by how many lie beside each other", () => {
    expect(weigh(list(depthMax * 2, (n) => (n % 2 === 0 ? "[]" : "{}")))).toBeNull()
    expect(weigh(`[${'{"a":[]},'.repeat(depthMax)}0]`)).toBeNull()
  })

  test.each(["[", "{", '\\"[', "\\\\", '\\\\\\"{', "]", "}"])("and not by %j inside strings", (text) => {
    expect(
      weigh(
        list(depthMax * 2, () => `"${text}"`),
        3
      )
    ).toBeNull()
    // What follows the strings still counts.
    expect(weigh(`["${text}","${text}",${"[".repeat(depthMax)}`, 3)).toBe(tooDeep)
  })
})

describe("an answer is refused by its cost", () => {
  /** One item again and again, or another one each time. */
  type Item = string | ((n: number) => string)
  const listOf = (count: number, item: Item) =>
    typeof item === "string" ? `[${`${item},`.repeat(count - 1)}${item}]` : list(count, item)
  const thousandWords = list(1_000, (n) => `"w${n}"`).slice(1, -1)
  /** More names than a shape has. */
  const wide = list(200, (n) => `"n${n}":1`)
    .replace("[", "{")
    .replace("]", "}")

  /** As many names as a shape may have. */
  const shaped = wide.slice(0, wide.indexOf(',"n64"')).concat("}")

  const accepted: ReadonlyArray<readonly [number, string, Item]> = [
    [7_000_000, "numbers", "1"],
    [7_900_000, "empty texts", '""'],
    [1_900_000, "lists", "[]"],
    [1_900_000, "objects", "{}"],
    [3_000, "times the same 1,000 words", thousandWords],
    [1_800_000, "texts of 17 letters", '"seventeen letters"'],
    [3_000_000, "texts of 16 letters", '"sixteen letters,"'],
    [400_000, "different words", (n) => `"w${n}"`],
    [1_000_000, "objects of one shape", '{"a":1}'],
    [150_000, "objects with a name of their own", (n) => `{"a${n}":1}`],
    [200_000, "objects with a name of 16 letters of their own", (n) => `{"${String(n).padStart(16, "n")}":1}`],
    [80_000, "objects with a long name of their own", (n) => `{"a longer name than ${n}":1}`],
    [118_000, "objects of 64 names", shaped],
    [10_000, "objects of 200 names", wide]
  ]
  test.each(accepted)("not with %p %s", (count, _name, item) => {
    expect(weigh(listOf(count, item))).toBeNull()
  })

  test("and a few thousand different words add nothing to it", () => {
    const words = list(9_000, (n) => `"w${n}"`).slice(0, -1)
    expect(weigh(`${words}${",1".repeat(7_900_000)}]`)).toBeNull()
  })

  const refused: ReadonlyArray<readonly [number, string, Item]> = [
    [9_000_000, "numbers", "1"],
    [2_300_000, "lists", "[]"],
    [2_300_000, "objects", "{}"],
    [2_100_000, "texts of 17 letters", '"seventeen letters"'],
    [800_000, "different words", (n) => `"w${n}"`],
    [300_000, "objects with a name of their own", (n) => `{"a${n}":1}`],
    [300_000, "objects with a long name of their own", (n) => `{"a longer name than ${n}":1}`],
    [11_500, "objects of 200 names", wide]
  ]
  test.each(refused)("with %p %s", (count, _name, item) => {
    expect(weigh(listOf(count, item))).toBe(tooMany)
  })
  const person = '{"name":"Ada Lovelace","email":"ada@example.com","company":{"name":"Acme","domain":"acme.example"}}'
  test.each([
    [20_000, "records", person],
    [200_000, "fractions", "0.1234567"],
    [60_000, "different words", (n: number) => `"w${n}"`]
  ])("nor in a shorter answer, with %p %s", (count, _name, item) => {
    expect(weigh(listOf(count, item), 65_536, ownLargest)).toBeNull()
  })
  test.each([
    [600_000, "lists", "[]"],
    [200_000, "different words", (n: number) => `"w${n}"`]
  ])("and a shorter answer may cost less: %p %s", (count, _name, item) => {
    const text = listOf(count, item)
    expect([weigh(text, 65_536, ownLargest), weigh(text)]).toEqual([tooManyFor(ownLargest), null])
  })

  test("and says how long parsing takes", () => {
    const weight = jsonWeight(largest)
    expect(weight.millis()).toBe(0)
    weight.add(Buffer.from(listOf(40_000, "1")))
    expect(weight.millis()).toBeCloseTo(1, 2)
  })
})
