/** Tables and text as a terminal shows them: widths, cuts, wide letters, and nothing that it would obey. */
import { describe, expect, test } from "bun:test"
import { Effect, Layer, SchemaAST } from "effect"
import fc from "fast-check"
import { lines } from "../../../src/http/cli/answers/show.ts"
import { runLines } from "../../../src/http/cli/runs/RunView.ts"
import { Screen } from "../../../src/http/cli/terminal/Screen.ts"
import { type Column, facts, table } from "../../../src/http/cli/terminal/table.ts"
import { cut, harmless, harmlessLines, padStart, widthOf, wrap } from "../../../src/http/cli/terminal/text.ts"
import { agoOf, dollars, durationOf } from "../../../src/http/cli/terminal/values.ts"
import { Run } from "../../../src/schema/nouns/Run.ts"

const plain = (text: string) => text

describe("text", () => {
  test("is never wider than it may be, and never split inside a letter", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.integer({ min: 0, max: 40 }), (text, columns) => {
        const safe = harmless(text)
        const kept = cut(safe, columns)
        expect(widthOf(kept)).toBeLessThanOrEqual(columns)
        expect(kept === safe || kept === "" || kept.endsWith("…")).toBe(true)
        expect(kept.isWellFormed() || !safe.isWellFormed()).toBe(true)
      })
    )
  })

  test("wide letters count as two", () => {
    expect(cut("会社を探す", 6)).toBe("会社…")
    expect(padStart("会", 4)).toBe("  会")
    expect(cut("👩‍👩‍👧‍👧 family", 4)).toBe("👩‍👩‍👧‍👧 …")
  })

  const printedOf = async (drawn: ReadonlyArray<string> | null, text: string) => {
    const out: Array<string> = []
    const screen = Layer.mock(Screen, {
      ...{ person: true, askable: false, animated: false, quiet: false, width: 80 },
      paint: (_, text) => text,
      closed: () => false,
      warn: () => Effect.void,
      out: (text) => Effect.sync(() => void out.push(text))
    })
    await Effect.runPromise(Effect.provide(lines(drawn, text), screen))
    return out.join("")
  }

  test("of a service keeps the colors of a drawn line, and nothing else that a terminal obeys", async () => {
    const drawn = ["\u001b[1;31mrule\u001b[0m \u001b[2Jlarge\u001b]0;title\u0007\r\u202e", "two\nlines"]
    expect(await printedOf(drawn, "")).toBe(
      "\u001b[1;31mrule\u001b[0m \ufffd[2Jlarge\ufffd]0;title\ufffd\ufffd\ntwo\u23celines\n"
    )
  })

  test("that can't be drawn has nothing that a terminal obeys either", async () => {
    expect(await printedOf(null, '{"a":\n"\u001b]0;owned\u0007\u009b31m\u202e"}')).toBe(
      '{"a":\n"\ufffd]0;owned\ufffd\ufffd31m\ufffd"}\n'
    )
  })

  test("has nothing left that a terminal obeys", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        for (const letter of harmless(text)) {
          const code = letter.codePointAt(0) ?? 0
          expect(code >= 0x20 && !(code >= 0x7f && code <= 0x9f)).toBe(true)
        }
      })
    )
    expect(harmless("a\u001b[31mb\u202ec\nd")).toBe("a\ufffd[31mb\ufffdc\u23ced")
    expect(harmlessLines("a\nb\u0007")).toBe("a\nb\ufffd")
  })

  test("wraps between words", () => {
    expect(wrap("one two  three", 7)).toEqual(["one two", "three"])
    expect(wrap("verylongword x", 5)).toEqual(["very…", "x"])
  })
})

interface Row {
  readonly name: string
  readonly cost: string | null
}
const columns: ReadonlyArray<Column<Row>> = [
  { title: "NAME", of: (row) => row.name, least: 6 },
  { title: "COST", of: (row) => dollars(row.cost), right: true }
]

describe("a table", () => {
  test("aligns money to the right and wraps text on a narrow terminal", () => {
    const rows = [
      { name: "a name that is long", cost: "1.00" },
      { name: "b", cost: "-12.345" },
      { name: "", cost: null }
    ]
    expect(table(rows, columns, 80, plain)).toEqual([
      "NAME                     COST",
      "a name that is long     $1.00",
      "b                    -$12.345",
      "-                           -"
    ])
    expect(table(rows, columns, 18, plain)).toEqual([
      "NAME          COST",
      "a name       $1.00",
      "that is",
      "long",
      "b         -$12.345",
      "-                -"
    ])
  })

  test("leaves out a column only when the others do not fit", () => {
    const wide: ReadonlyArray<Column<Row>> = [...columns, { title: "EXTRA COLUMN", of: () => "x", dropped: 1 }]
    const rows = [{ name: "ada", cost: "1.00" }]
    expect(table(rows, wide, 40, plain)[0]).toBe("NAME   COST  EXTRA COLUMN")
    expect(table(rows, wide, 20, plain)[0]).toBe("NAME   COST")
  })

  test("fits whenever its columns can", () => {
    const row = fc.record({ name: fc.string({ unit: "grapheme" }), cost: fc.constantFrom("1.00", "-0.5", null) })
    fc.assert(
      fc.property(fc.array(row), fc.integer({ min: 18, max: 60 }), (rows, width) => {
        for (const line of table(rows, columns, width, plain)) expect(widthOf(line)).toBeLessThanOrEqual(width)
      })
    )
  })

  test("of facts truncates a long word with an ellipsis, and never a name", () => {
    expect(
      facts(
        [
          ["a", "x".repeat(50)],
          ["longer", null]
        ],
        30,
        plain
      )
    ).toEqual([`a       ${"x".repeat(21)}…`, "longer  -"])
  })

  test("of facts has names that a terminal does not obey", () => {
    expect(facts([["a\u001b[2J", "b"]], 30, plain)).toEqual(["a\ufffd[2J  b"])
  })
})

test("values as people read them", () => {
  expect([dollars("0.0042"), dollars("-1.00"), dollars(null)]).toEqual(["$0.0042", "-$1.00", null])
  expect([durationOf(12), durationOf(1_240), durationOf(20_400)]).toEqual(["12 ms", "1.2 s", "20 s"])
  const ago = [0, 119, 120, 7_199, 7_200, 172_800].map((seconds) => agoOf(0, seconds * 1000))
  expect(ago).toEqual(["0 s", "119 s", "2 min", "119 min", "2 h", "2 d"])
})

test("the result of a run is shown without what a terminal obeys, whatever shape a provider gives it", () => {
  const evil = "\u001b]0;owned\u0007\u009b31m\u202e"
  const [run] = SchemaAST.resolveAt<ReadonlyArray<object>>("examples")(Run.ast) ?? []
  const screen = { width: 80, paint: (_: string, text: string) => text }
  for (const result of [`a${evil}`, { [`a${evil}`]: 1 }, { [`a${evil}`]: { [evil]: evil } }, [evil]]) {
    const lines = runLines(JSON.stringify({ ...run, result }), screen, true)?.join("\n") ?? ""
    expect(lines).toContain("owned")
    for (const sign of "\u001b\u0007\u009b\u202e") expect(lines).not.toContain(sign)
  }
})
