import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { jsonMistake } from "../../src/schema/json/JsonMistake.ts"

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe("jsonMistake", () => {
  const mistakes: ReadonlyArray<readonly [text: string, line: number, column: number, expected: string]> = [
    ["", 1, 1, "a value"],
    ["{", 1, 2, "a field name in double quotes"],
    ['{"a": 1,}', 1, 9, "a field name in double quotes"],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma or }"],
    ['{\r\n  "a" 1}', 2, 7, "a colon"],
    ["{'a': 1}", 1, 2, "a field name in double quotes"],
    ['{"a": nul}', 1, 7, "a value"],
    ["[1, 2", 1, 6, "a comma or ]"],
    ["[01]", 1, 3, "a comma or ]"],
    ['["é😀" x]', 1, 7, "a comma or ]"],
    ['{"a": "b\n"}', 1, 9, "an escaped control character, such as \\n"],
    ['["\\x"]', 1, 3, "a valid escape"],
    ['["open', 1, 7, 'the closing " of a string'],
    ["{} {}", 1, 4, "the end of the text"]
  ]
  test.each(mistakes)("%j is wrong at %i:%i", (text, line, column, expected) => {
    expect(jsonMistake(text)).toEqual({ line, column, expected })
  })

  test("finds a mistake exactly where JSON.parse refuses the text", () => {
    const letters = fc.constantFrom(...'{}[]",:\\ \n0123-.eEtrufalsn\u0001é'.split(""))
    const broken = fc.tuple(fc.json(), fc.nat(), letters, fc.boolean()).map(([json, at, letter, insert]) => {
      const place = at % (json.length + 1)
      return json.slice(0, place) + letter + json.slice(insert ? place : place + 1)
    })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          broken,
          fc.array(letters).map((all) => all.join(""))
        ),
        (text) => {
          expect(jsonMistake(text) === null).toBe(isJson(text))
        }
      ),
      { numRuns: 5_000 }
    )
  })
})
