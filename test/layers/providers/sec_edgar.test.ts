import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { secEdgar } from "../../../src/layers/providers/sec_edgar/index.ts"
import { conforms } from "./conformance.ts"
import { answer, get, offerOf, type Played, stage } from "./stage.ts"

const play = stage(secEdgar)
const examples = join(import.meta.dir, "..", "..", "fixtures", "payloads", "sec_edgar")
const example = (name: string): unknown => JSON.parse(readFileSync(join(examples, `${name}.response.json`), "utf8"))
const submissions = answer(200, example("submissions"))
const search = answer(200, example("search_index"))
const directory = answer(200, {
  0: { cik_str: 320193, ticker: "AAPL", title: "Apple Inc." },
  1: { cik_str: 1067983, ticker: "BRK-B", title: "BERKSHIRE HATHAWAY INC" },
  2: { cik_str: 1418121, ticker: "APLE", title: "Apple Hospitality REIT, Inc." },
  3: { cik_str: 717423, ticker: "MUR", title: "MURPHY OIL CORP" }
})
/** Some answers are no JSON. */
const page = (name: string, status: number): Played => answer(status, Object(example(name))._text)

describe("sec_edgar gov.filings", () => {
  test("of a company by number, named by a contact address", async () => {
    const input = { cik: "0000717423", forms: ["10-k"], limit: 1 }
    const { asked, outcome } = await play("gov.filings", input, submissions)
    expect(asked).toEqual([expect.objectContaining(get("/submissions/CIK0000717423.json", {}))])
    expect(asked[0]?.headers["user-agent"]).toStartWith("Rungate (")
    expect(conforms(secEdgar, offerOf(secEdgar, "gov.filings").request(input, { run_id: "run_1" }))).toEqual([])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            company: "MURPHY OIL CORP",
            cik: "717423",
            form: "10-K",
            filed_at: "2022-02-25",
            period: "2021-12-31",
            accession_number: "0000717423-22-000019",
            url: "https://www.sec.gov/Archives/edgar/data/717423/000071742322000019/mur-20211231.htm",
            description: "10-K"
          }
        ],
        total: null,
        next_cursor: null
      }
    })
  })

  test("by symbol: first the directory, then the company", async () => {
    const input = { ticker: "mur", date_from: "2022-08-01", limit: 5 }
    const { asked, outcomes, outcome, kept } = await play("gov.filings", input, directory, submissions)
    expect(asked.map((one) => one.path)).toEqual(["/files/company_tickers.json", "/submissions/CIK0000717423.json"])
    expect(outcomes[0]).toMatchObject({ _tag: "Again", job: false })
    expect(kept).toEqual([])
    // The older file ends before the first day that is wanted, so all is known.
    expect(outcome).toMatchObject({ output: { items: [{ form: "8-K" }, { form: "10-Q" }], total: 2 } })
  })

  test("older filings are read while the limit is not reached", async () => {
    const older = { accessionNumber: ["1-2-3"], filingDate: ["2010-01-05"], form: ["10-K"], primaryDocument: [""] }
    const input = { cik: "717423", date_to: "2012-12-31", limit: 5 }
    const { asked, outcome } = await play("gov.filings", input, submissions, answer(200, older))
    expect(asked[1]?.path).toBe("/submissions/CIK0000717423-submissions-001.json")
    expect(outcome).toMatchObject({
      output: { items: [{ company: "MURPHY OIL CORP", filed_at: "2010-01-05", cik: "717423" }], total: 1 }
    })
  })

  test("in the text of all", async () => {
    const input = {
      query: '"material weakness"',
      forms: ["10-K", "10-Q"],
      date_from: "2024-01-01",
      date_to: "2025-12-31"
    }
    const { asked, outcome } = await play("gov.filings", input, search)
    expect(asked[0]).toMatchObject(
      get("/LATEST/search-index", {
        q: '"material weakness"',
        forms: "10-K,10-Q",
        dateRange: "custom",
        startdt: "2024-01-01",
        enddt: "2025-12-31"
      })
    )
    expect(offerOf(secEdgar, "gov.filings").request(input, { run_id: "run_1" }).origin).toBe("https://efts.sec.gov")
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          // The report names the person first. The company is the one with a symbol.
          {
            company: "ABBOTT LABORATORIES",
            cik: "1800",
            form: "4",
            filed_at: "2022-04-01",
            period: "2022-03-25",
            accession_number: "0001415889-22-003603",
            url: "https://www.sec.gov/Archives/edgar/data/1800/000141588922003603/form4-04012022_020405.xml",
            description: null
          }
        ],
        total: 1,
        next_cursor: null
      }
    })
  })

  test("in the text of one company, named by symbol", async () => {
    const { asked } = await play("gov.filings", { query: "risk", ticker: "AAPL" }, directory, search)
    expect(asked[1]).toMatchObject(get("/LATEST/search-index", { q: "risk", ciks: "0000320193" }))
  })

  test("a search of several pages ends at the limit", async () => {
    const hit = (id: number) => ({ _id: `1-2-${id}:a.htm`, _source: { adsh: `1-2-${id}`, ciks: ["1"] } })
    const result = (...ids: ReadonlyArray<number>) => answer(200, { hits: { total: { value: 9 }, hits: ids.map(hit) } })
    const { asked, outcome } = await play("gov.filings", { query: "x", limit: 3 }, result(1, 2), result(3, 4))
    expect(asked[1]?.query).toEqual({ q: "x", from: "2" })
    expect(Object(outcome).output.items.map((one: { url: string }) => one.url)).toEqual(
      [1, 2, 3].map((id) => `https://www.sec.gov/Archives/edgar/data/1/12${id}/a.htm`)
    )
    expect(outcome).toMatchObject({ output: { total: 9 } })
  })

  test("misses: no such number, not in the directory, nothing found", async () => {
    const gone = await play("gov.filings", { cik: "9" }, page("submissions.404", 404))
    expect(gone.outcome).toEqual({ _tag: "NoMatch", detail: "no company with this number files with the SEC" })
    const unknown = await play("gov.filings", { ticker: "NOPE" }, directory)
    expect(unknown.outcome).toMatchObject({ _tag: "NoMatch" })
    const empty = await play("gov.filings", { query: "x" }, answer(200, example("search_index.empty")))
    expect(empty.outcome).toEqual({ _tag: "NoMatch", detail: "no filings" })
  })

  const failures = [
    [page("blocked.403", 403), "provider_rate_limited"],
    [answer(403, "<html>Your Request Originates from an Undeclared Automated Tool</html>"), "provider_account"],
    [answer(404, "<html>no such page</html>"), "provider_error"],
    [answer(500, "oops"), "provider_error"],
    [answer(200, "<html>maintenance</html>"), "invalid_response"],
    [answer(200, { filings: {} }), "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.status} is ${reason}: ${played.body.slice(0, 60)}`, async () => {
      const { outcome } = await play("gov.filings", { cik: "320193" }, played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }

  test("a directory that is none is refused", async () => {
    for (const body of [{}, [], { 0: "x" }]) {
      const { outcome } = await play("gov.filings", { ticker: "AAPL" }, answer(200, body))
      expect(outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    }
  })
})

describe("sec_edgar gov.entity", () => {
  test("by number", async () => {
    const { asked, outcome } = await play("gov.entity", { cik: "717423" }, submissions)
    expect(asked[0]?.path).toBe("/submissions/CIK0000717423.json")
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        name: "MURPHY OIL CORP",
        ids: { uei: null, duns: null, cik: "717423", tickers: ["MUR"] },
        address: "9805 KATY FWY, SUITE G-200, HOUSTON, TX 77024, United States",
        total_awarded: null,
        sic: "1311",
        filings_count: 1062
      }
    })
  })

  test("by name, whole names before beginnings of names, and by symbols of classes", async () => {
    const apple = await play("gov.entity", { name: "apple" }, directory, submissions)
    expect(apple.asked[1]?.path).toBe("/submissions/CIK0000320193.json")
    const hospitality = await play("gov.entity", { name: "Apple Hospitality" }, directory, submissions)
    expect(hospitality.asked[1]?.path).toBe("/submissions/CIK0001418121.json")
    const berkshire = await play("gov.entity", { ticker: "brk.b" }, directory, submissions)
    expect(berkshire.asked[1]?.path).toBe("/submissions/CIK0001067983.json")
    expect((await play("gov.entity", { name: "Inc." }, directory)).outcome?._tag).toBe("NoMatch")
    expect(offerOf(secEdgar, "gov.entity").serves({ uei: "NUDGYLBB4S99" })).toBe(false)
  })
})

describe("sec_edgar company.enrich", () => {
  test("by name", async () => {
    const { outcome } = await play("company.enrich", { name: "Murphy Oil" }, directory, submissions)
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        name: "MURPHY OIL CORP",
        domain: null,
        industry: "Crude Petroleum & Natural Gas",
        location: { city: "HOUSTON", region: "TX", country: "United States" },
        phone: "2816759000",
        provider_ids: { sec_edgar: "717423" }
      }
    })
    expect((await play("company.enrich", { name: "Nobody at all" }, directory)).outcome?._tag).toBe("NoMatch")
    expect(offerOf(secEdgar, "company.enrich").serves({ name: "Apple", domain: "apple.com" })).toBe(false)
  })
})
