/** How a CSV becomes inputs of a batch in the console, as pure functions: reading, guessing columns, checking rows, joining results. */
import { describe, expect, test } from "bun:test"
import { parse } from "papaparse"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { amountOf, centsDollars, microsOf, sumOf } from "../../src/http/console/data/money.ts"
import { joinedCsv } from "../../src/http/client/JoinedCsv.ts"
import { guessedColumns } from "../../src/http/client/Columns.ts"
import { formOf, inputsOf, problemsOf } from "../../src/http/console/pages/batches/new/inputs.ts"
import { sheetOf } from "../../src/http/console/pages/batches/readFile.ts"
import { linesOf } from "../../src/http/console/pages/history/useHistory.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const sheet = (text: string) => {
  const read = sheetOf("people.csv", bytes(text))
  if ("problem" in read) throw new Error(read.problem)
  return read.sheet
}
const formFor = (slug: string) => formOf({ ...capabilities.find((one) => one.slug === slug)?.input.jsonSchema })

describe("a file", () => {
  test("is read with its separators, marks and encodings", () => {
    expect(sheet("\ufeffa;b\r\n1;2\r\n\r\n")).toMatchObject({ header: ["a", "b"], rows: [["1", "2"]], notes: [] })
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("a\nZoë\n", "utf16le")])
    expect(sheetOf("x.csv", utf16)).toMatchObject({ sheet: { rows: [["Zoë"]], notes: [] } })
    const windows = sheetOf("x.csv", Buffer.from("a\nZo\xeb\n", "latin1"))
    expect(windows).toMatchObject({ sheet: { rows: [["Zoë"]], notes: [expect.stringContaining("Windows-1252")] } })
  })

  test("says which columns and rows are odd", () => {
    expect(sheet("a,a\n1,2\n").notes).toEqual([expect.stringContaining('the name "a"')])
    expect(sheet("a,b\n1,2\n3\n").notes).toEqual([expect.stringContaining("Row 2 has 1 cells")])
  })

  test("that is too large is refused", () => {
    expect(sheetOf("x.csv", new Uint8Array(8 * 1_024 * 1_024 + 1))).toMatchObject({
      problem: expect.stringContaining("8 MiB")
    })
  })
})

describe("columns and rows", () => {
  test("columns are guessed by name, and none fills two fields", () => {
    const fields = formFor("email.find").fields.map(({ name }) => name)
    expect(
      guessedColumns(fields, ["Contact", "First Name", "Last Name", "Website", "Company", "LinkedIn URL"])
    ).toEqual({
      full_name: "Contact",
      first_name: "First Name",
      last_name: "Last Name",
      company_domain: "Website",
      company_name: "Company",
      network_url: "LinkedIn URL"
    })
    expect(guessedColumns(fields, ["", "Notes"])).toEqual({})
  })

  const checked = (slug: string, text: string, mapping: Readonly<Record<string, string>>) => {
    const form = formFor(slug)
    const { header, rows } = sheet(text)
    return inputsOf(form, header, rows, mapping).map((input) => [input, problemsOf(form, input)])
  }

  test("a website fills a domain as it is written, and a row says what it lacks", () => {
    const mapping = { full_name: "name", company_domain: "site" }
    const text = "name,site\nAda,https://www.example.com/about\nBob,\nEve,not a domain\n"
    expect(checked("email.find", text, mapping)).toEqual([
      [{ full_name: "Ada", company_domain: "https://www.example.com/about" }, []],
      [{ full_name: "Bob" }, [expect.stringContaining("needs full_name and company_domain; or ")]],
      [{ full_name: "Eve", company_domain: "not a domain" }, ["company_domain is no domain such as example.com"]]
    ])
  })

  test("lists, numbers and required fields", () => {
    expect(checked("people.search", "t,n\nCEO; CTO ;,20\nCEO,many\nCEO,0\n", { titles: "t", limit: "n" })).toEqual([
      [{ titles: ["CEO", "CTO"], limit: 20 }, []],
      [{ titles: ["CEO"], limit: "many" }, ["limit is no number"]],
      [{ titles: ["CEO"], limit: 0 }, ["limit is less than 1"]]
    ])
    expect(checked("email.verify", "e\nnobody\n", { email: "e" })).toEqual([
      [{ email: "nobody" }, ["email is no e-mail address"]]
    ])
    expect(checked("email.verify", "e\nx\n", {})).toEqual([[{}, ["email is empty"]]])
  })

  test("an example of every capability has no problem, so the check refuses nothing that the service takes", () => {
    for (const { slug, example, input } of capabilities) {
      const form = formOf({ ...input.jsonSchema })
      // What a cell can't hold is not mapped either.
      const cells = Object.entries<unknown>({ ...Object(example) }).filter(([name]) =>
        form.fields.some((field) => field.name === name && field.type !== "object")
      )
      if (cells.length < Object.keys(Object(example)).length) continue
      const isText = (value: unknown) =>
        typeof value !== "object" || (Array.isArray(value) && value.every((one) => typeof one === "string"))
      if (!cells.every(([, value]) => isText(value))) continue
      const row = cells.map(([, value]) => (Array.isArray(value) ? value.join(";") : String(value)))
      const header = cells.map(([name]) => name)
      const mapping = Object.fromEntries(header.map((name) => [name, name]))
      const [made] = inputsOf(form, header, [row], mapping)
      expect([slug, problemsOf(form, made ?? {})]).toEqual([slug, []])
    }
  })
})

test("results stand beside the columns of the file, and formulas are harmless", () => {
  const text = joinedCsv(sheet("name,note\nAda,=1+1\nBob,x\n"), [
    {
      row: 2,
      status: "succeeded",
      run_id: "run_1",
      charged: "0.01",
      result: { email: "bob@example.com", n: { a: 1 } }
    },
    { row: 1, status: "invalid", run_id: null, charged: null, error: { code: "invalid_request", message: "no" } }
  ])
  const { data } = parse<Record<string, string>>(text.trim(), { header: true })
  expect(data).toEqual([
    {
      ...{ name: "Ada", note: "'=1+1", status: "invalid", run_id: "", charged: "" },
      ...{ error: "invalid_request: no", "result.email": "", "result.n": "" }
    },
    {
      ...{ name: "Bob", note: "x", status: "succeeded", run_id: "run_1", charged: "0.01" },
      ...{ error: "", "result.email": "bob@example.com", "result.n": '{"a":1}' }
    }
  ])
})

test("amounts stay exact", () => {
  expect([0n, 1n, 1_500_000n, -20_000n].map(amountOf)).toEqual(["0.00", "0.000001", "1.50", "-0.02"])
  expect(sumOf(["0.1", "0.2", "-0.05"])).toBe("0.25")
  expect(microsOf(amountOf(123_456_789_000_001n))).toBe(123_456_789_000_001n)
})

test("pasted lines are trimmed, and each counts once", () => {
  expect(linesOf(" a@b.example \r\n\r\nc\ra@b.example\n")).toEqual(["a@b.example", "c"])
})

test.each([
  ["24.476", "$24.47"],
  ["1234.56", "$1,234.56"],
  ["0.0048", "< $0.01"],
  ["0.00", "$0.00"],
  ["-0.0048", "> −$0.01"],
  ["-2.999999", "−$2.99"]
])("summaries show %s USD as %s", (amount, shown) => {
  expect(centsDollars(amount)).toBe(shown)
})
