/**
 * A batch's CSV is read in steps, between which the service answers others. The steps must not show: the lines are those of one pass over
 * the text, wherever a step ends, and a text that is wrong is refused with its row.
 */
import { describe, expect, test } from "bun:test"
import { Effect, Result } from "effect"
import fc from "fast-check"
import { parse } from "papaparse"
import { readCsv } from "../../src/http/client/Csv.ts"
import { csvLines } from "../../src/http/submission/CsvLines.ts"
import { csvRuns } from "../../src/http/submission/CsvRuns.ts"

const read = (text: string) => {
  const steps = csvLines(text)
  let count = 0
  for (;;) {
    const { done, value } = steps.next()
    if (done) return { lines: value, steps: count }
    count += 1
  }
}
const linesOf = (text: string) => Result.getOrThrow(read(text).lines)
const messageOf = (text: string) => {
  const { lines } = read(text)
  return Result.isFailure(lines) ? lines.failure : expect.unreachable(`${lines.success.length} lines`)
}
const mebibytes8 = 8 * 1_024 * 1_024
const filled = (part: string) => part.repeat(Math.ceil(mebibytes8 / part.length)).slice(0, mebibytes8)

test("others are served while a large CSV is read", async () => {
  let turns = 0
  const turn = () => {
    turns += 1
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  const text = `email,note\n${`a@example.com,"${"x".repeat(400)}"\n`.repeat(10_000)}`
  const rows = await Effect.runPromise(csvRuns(text, undefined, new Map([["email", "string"]])))
  clearImmediate(next)
  expect(rows).toHaveLength(10_000)
  expect(turns).toBeGreaterThan(10)
})

test("without a map the names of the columns decide, and several values of a list stand in one cell", async () => {
  const fields = new Map<string, string | null>([
    ["first_name", "string"],
    ["company_domain", "string"],
    ["titles", "array"]
  ])
  const text = "First,Website,Titles,Notes\nAda,https://example.com/,CTO; VP ;,x\n"
  expect(await Effect.runPromise(csvRuns(text, undefined, fields))).toEqual([
    { first_name: "Ada", company_domain: "https://example.com/", titles: ["CTO", "VP"] }
  ])
})

describe("a hostile text is refused after the first part of it", () => {
  test.each([
    ["quotes that are not doubled", filled('"a"b,'), "has a quote that is not closed or not doubled, in row 1", 1],
    ["a quote that is not closed", `a,b\n"${filled("x\n")}`, "has more than 131072 characters in row 2", 10],
    ["a row without end", `a,b\n${filled(",")}`, "has more than 131072 characters in row 2", 10],
    ["a row of doubled quotes", `"${filled('""')}`, "has more than 131072 characters in row 1", 10],
    ["too many columns", filled(`${"x,".repeat(500)}x\n`), "has more than 500 columns, in row 1", 1],
    ["too many rows", filled("a\n"), "has more than 10000 rows", 2],
    ["millions of empty lines", filled("\n"), "has more than 10000 rows", 4]
  ])("%s", (_, text, message, most) => {
    const { lines, steps } = read(text)
    expect(Result.isFailure(lines) ? lines.failure : "").toContain(message)
    expect(steps).toBeLessThanOrEqual(most)
  })
})

describe("a message names the row", () => {
  const good = `"Ada","example.com"\n`
  test.each([
    ["at the beginning", `${good}"a"b,c\n${good.repeat(2_000)}`, 2],
    ["behind the first step", `${good.repeat(5_000)}"a"b,c\n`, 5_001],
    ["after empty lines", `${good}\n\n"a"b,c\n`, 4],
    ["at the end", `${good.repeat(5_000)}"a`, 5_001]
  ])("of a wrong quote %s", (_, text, row) => {
    expect(messageOf(text)).toBe(`has a quote that is not closed or not doubled, in row ${row}`)
  })
  test("of too many columns", () => {
    expect(messageOf(`a,b\n${"a,b\n".repeat(6_000)}${"x,".repeat(500)}x\n`)).toBe(
      "has more than 500 columns, in row 6002"
    )
  })
})

describe("wherever a step ends, the lines are the same", () => {
  // A step has 16,384 characters. Each row is moved over the end of the first one, a character at a time.
  test.each([
    ["a quoted cell", `"Ada ""the"" Lovelace","a, b"\n`],
    ["Windows line endings", `"Ada Lovelace","London"\r\n`],
    ["spaces behind a quote", `"Ada"   ,"London"  \n`],
    ["line breaks in a cell", `"Ada\r\nLovelace","\n\n"\r\n`],
    ["semicolons", `"Ada";"a,b"\n`],
    ["empty lines", `Ada,London\n\n , \n`],
    ["old line endings", `"Ada",London\r`]
  ])("%s", (_, row) => {
    const rows = row.repeat(Math.ceil(20_000 / row.length))
    for (let shift = 0; shift <= row.length; shift++) {
      const separator = row.includes(";") ? ";" : ","
      const text = `${"x".repeat(shift + 1)}${separator}y${row.includes("\n") ? "\n" : "\r"}${rows}`
      expect(linesOf(text)).toEqual(readCsv(text).rows)
    }
  })

  const cell = fc.oneof(
    fc.constantFrom("", " ", "Ada", `"Ada"`, `"a,b"`, `"a""b"`, `"a\nb"`, `"a" `, `5" screen`, "ü", `""`, `a"`),
    fc.string({ maxLength: 12 }).map((text) => `"${text.replaceAll('"', '""')}"`)
  )
  const row = fc.array(cell, { minLength: 2, maxLength: 6 }).map((cells) => cells.join(","))

  test("rows for which another separator is taken are refused by both readings", () => {
    const text = `a,b\n,"#;;","",\n`.repeat(3_000)
    expect([readCsv(text).brokenLine, messageOf(text)]).toEqual([2, expect.stringContaining("in row 2")])
  })

  test("random rows", () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 30 }), fc.constantFrom("\n", "\r\n"), (some, newline) => {
        const once = `a,b${newline}${some.join(newline)}${newline}`
        const text = `${once.repeat(Math.ceil(40_000 / once.length))}`
        const { rows, brokenLine } = readCsv(text)
        // Rows that fit another separator better, as `,"#;;","",` does, are read with it, and its quotes are wrong then.
        if (brokenLine === null) expect(linesOf(text)).toEqual(rows)
        else expect(messageOf(text)).toContain("a quote that is not closed or not doubled, in row ")
      }),
      { numRuns: 50 }
    )
  })

  test("random rows with wrong quotes", () => {
    const broken = fc.constantFrom(`"a"b`, `"a" b`, `"`, `"a"" `, `"""`)
    const rows = fc.array(fc.oneof({ arbitrary: row, weight: 30 }, { arbitrary: broken, weight: 1 }), { maxLength: 40 })
    fc.assert(
      fc.property(rows, fc.integer({ min: 15_900, max: 16_400 }), (some, before) => {
        const text = `a,b\n${"a,b\n".repeat(3_900)}${"x".repeat(before - 15_604)},b\n${some.join("\n")}\n`
        const { errors } = parse(text, { delimiter: ",", newline: "\n" })
        const wrong = errors.find(({ type }) => type === "Quotes")
        if (wrong === undefined) expect(linesOf(text)).toEqual(readCsv(text).rows)
        else expect(messageOf(text)).toEndWith(`, in row ${(wrong.row ?? 0) + 1}`)
      }),
      { numRuns: 300 }
    )
  })
})
