import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { usaspending } from "../../../src/layers/providers/usaspending.ts"
import { conforms } from "./conformance.ts"
import { answer, get, offerOf, type Played, post, stage } from "./stage.ts"

const play = stage(usaspending)
const examples = join(import.meta.dir, "..", "..", "fixtures", "payloads", "usaspending")
const documented = (name: string, status = 200): Played =>
  answer(status, readFileSync(join(examples, `${name}.response.json`), "utf8"))
const conforming = (capability: string, input: unknown) =>
  conforms(usaspending, offerOf(usaspending, capability).request(input, { run_id: "run_1" }))

describe("usaspending gov.contracts", () => {
  test("contracts of a recipient", async () => {
    const input = { recipient: "Example Contractor", limit: 5 }
    const { asked, outcome } = await play("gov.contracts", input, documented("search.spending_by_award"))
    expect(asked).toEqual([
      expect.objectContaining(
        post("/api/v2/search/spending_by_award/", {
          filters: { award_type_codes: ["A", "B", "C", "D"], recipient_search_text: ["Example Contractor"] },
          fields: [
            "Award ID",
            "Recipient Name",
            "Award Amount",
            "Awarding Agency",
            "Start Date",
            "End Date",
            "Description",
            "Contract Award Type"
          ],
          sort: "Award Amount",
          order: "desc",
          page: 1,
          limit: 5
        })
      )
    ])
    expect(conforming("gov.contracts", input)).toEqual([])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            award_id: "GSFC0200211DNAS502200",
            recipient: "NORTHROP GRUMMAN SYSTEMS CORPORATION",
            amount: 4345585999.01,
            agency: "National Aeronautics and Space Administration",
            start_date: "2003-10-01",
            end_date: "2022-12-25",
            description: expect.stringMatching(/^THE JAMES WEBB SPACE TELESCOPE /),
            type: "DEFINITIVE CONTRACT",
            url: "https://www.usaspending.gov/award/CONT_AWD_GSFC0200211DNAS502200_8000_-NONE-_-NONE-"
          }
        ],
        total: null,
        next_cursor: "usaspending:2"
      }
    })
  })

  test("every filter, on the second page", async () => {
    const input = {
      keyword: "transport",
      agency: "Department of Energy",
      naics: ["54", "3254"],
      award_types: "loans",
      date_from: "2001-01-01",
      cursor: "usaspending:2"
    }
    const loan = { "Award ID": "L1", "Loan Value": 7, "Issued Date": "2020-01-01" }
    const { asked, outcome } = await play("gov.contracts", input, answer(200, { results: [loan] }))
    expect(asked[0]?.body).toMatchObject({
      filters: {
        award_type_codes: ["07", "08"],
        keywords: ["transport"],
        agencies: [{ type: "awarding", tier: "toptier", name: "Department of Energy" }],
        naics_codes: { require: ["54", "3254"] },
        time_period: [{ start_date: "2007-10-01", end_date: "2027-09-30" }]
      },
      sort: "Loan Value",
      page: 2,
      limit: 10
    })
    expect(conforming("gov.contracts", input)).toEqual([])
    expect(outcome).toMatchObject({
      output: { items: [{ award_id: "L1", amount: 7, start_date: "2020-01-01", end_date: null }], next_cursor: null }
    })
  })

  test("nothing found; what it leaves to others", async () => {
    const input = { recipient: "Nobody" }
    const { outcome } = await play("gov.contracts", input, documented("search.spending_by_award.empty"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no awards found" })
    const { serves } = offerOf(usaspending, "gov.contracts")
    expect(serves({ keyword: "ai" })).toBe(false)
    expect(serves({ keyword: "air", cursor: "usaspending:x" })).toBe(false)
    expect(serves({ keyword: "air", cursor: "sec_edgar:2" })).toBe(false)
  })

  const failures = [
    [documented("error.400", 400), "provider_error"],
    [documented("error.422", 422), "provider_error"],
    [answer(429, { detail: "slow down" }), "provider_rate_limited"],
    [answer(503, "<html>"), "provider_error"],
    [answer(200, "<html>"), "invalid_response"],
    [answer(200, { results: {} }), "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.status} is ${reason}`, async () => {
      const { outcome } = await play("gov.contracts", { recipient: "x" }, played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})

describe("usaspending gov.entity", () => {
  const recipient = documented("recipient.recipient_id")

  test("by number: the list, then the recipient", async () => {
    const input = { uei: "je73cdquapa7" }
    const { asked, outcomes, outcome } = await play("gov.entity", input, documented("recipient"), recipient)
    expect(asked[0]).toMatchObject({ path: "/api/v2/recipient/", body: { keyword: "JE73CDQUAPA7" } })
    expect(asked[1]).toMatchObject(get("/api/v2/recipient/bf782d74-80d4-581e-ae9f-3b5b57092d7d-C/", { year: "all" }))
    expect(conforming("gov.entity", input)).toEqual([])
    const { next } = offerOf(usaspending, "gov.entity")
    const state = { recipient_id: "bf782d74-80d4-581e-ae9f-3b5b57092d7d-C" }
    expect(conforms(usaspending, next(state, input, { run_id: "run_1" }))).toEqual([])
    expect(outcomes[0]).toMatchObject({ _tag: "Again", state, job: false })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        name: "ART LINE NEKEMO, INC.",
        ids: { uei: "NUDGYLBB4S99", duns: "058675323", cik: null, tickers: null },
        address: "1 VEKENE DORO, RODORI, NY 11801, UNITED STATES",
        total_awarded: 0,
        sic: null,
        filings_count: null
      }
    })
  })

  test("by name: the very name, else the largest", async () => {
    const bank = await play("gov.entity", { name: "Sasavi Bank" }, documented("recipient"), recipient)
    expect(bank.asked[1]?.path).toContain("9f972e57-c05f-b374-bf11-0408f30da215-R")
    const state = await play("gov.entity", { name: "California" }, documented("recipient"), recipient)
    expect(state.asked[1]?.path).toContain("1c3edaaa-611b-840c-bf2b-fd34df49f21f-P")
  })

  test("nobody found, and ids that are none", async () => {
    const other = await play("gov.entity", { uei: "AAAAAAAAAAAA" }, documented("recipient"))
    expect(other.outcome).toEqual({ _tag: "NoMatch", detail: "no recipient found" })
    const none = await play("gov.entity", { name: "x" }, answer(200, { results: [] }))
    expect(none.outcome?._tag).toBe("NoMatch")
    const strange = await play("gov.entity", { name: "x" }, answer(200, { results: [{ id: "../../x" }] }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    expect(strange.asked).toHaveLength(1)
    expect(offerOf(usaspending, "gov.entity").serves({ cik: "1" })).toBe(false)
  })
})
