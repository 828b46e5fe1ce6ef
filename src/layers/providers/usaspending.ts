/**
 * Adapter for USAspending: contracts, grants and loans that the United States government awards, and their recipients.
 *
 * Public data, free of charge. A recipient takes two requests: a search finds its id, and a second one reads its details.
 */
import type { Schema } from "effect"
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { govContracts, govContractsDefaultLimit } from "../../schema/capabilities/gov.contracts.ts"
import { govEntity } from "../../schema/capabilities/gov.entity.ts"
import { inUsd } from "../../schema/money/Rates.ts"
import { type Call, offer, provider } from "../../schema/catalog/Provider.ts"
import { accepts, issue, redeem } from "./kit/cursor.ts"
import { httpErrors, match, noMatch, pageFrom, unreadable } from "./kit/outcome.ts"
import { at, flag, list, number, segmentOf, text } from "./kit/read.ts"

const slug = "usaspending"
const free = inUsd.flat("0")
const note = "Public data of the United States government, free of charge."

/** The earliest date of a search, because older awards are only in archives. */
const firstDay = "2007-10-01"
/** The last date of a search without one. The provider uses the same default. */
const lastDay = "2027-09-30"
/** The provider rejects shorter keywords. */
const keywordLengthMin = 3

const awardTypes = {
  contracts: ["A", "B", "C", "D"],
  grants: ["02", "03", "04", "05"],
  loans: ["07", "08"]
} as const
type AwardType = keyof typeof awardTypes

/** Names of the result columns, which differ for loans. */
const columns = (type: AwardType) =>
  type === "loans"
    ? { amount: "Loan Value", start: "Issued Date", kind: null, end: null }
    : {
        amount: "Award Amount",
        start: "Start Date",
        end: "End Date",
        kind: type === "contracts" ? "Contract Award Type" : "Award Type"
      }

const typeOf = (input: InputOf<typeof govContracts>): AwardType => input.award_types ?? "contracts"
const pageOf = (cursor: string | undefined): number => Number(redeem(slug, cursor) ?? "1")

const contracts = offer(govContracts, {
  price: free,
  note,
  wraps: ["POST /api/v2/search/spending_by_award/"],
  serves: (input) =>
    accepts(slug, input.cursor) &&
    /^[1-9]\d{0,4}$/.test(String(pageOf(input.cursor))) &&
    (input.keyword === undefined || input.keyword.trim().length >= keywordLengthMin),
  request: (input) => {
    const { amount, start, end, kind } = columns(typeOf(input))
    const from = input.date_from ?? firstDay
    return {
      body: {
        filters: {
          award_type_codes: awardTypes[typeOf(input)],
          ...(input.recipient === undefined ? {} : { recipient_search_text: [input.recipient] }),
          ...(input.keyword === undefined ? {} : { keywords: [input.keyword] }),
          ...(input.agency === undefined
            ? {}
            : { agencies: [{ type: "awarding", tier: "toptier", name: input.agency }] }),
          ...(input.naics === undefined ? {} : { naics_codes: { require: input.naics } }),
          ...(input.date_from === undefined && input.date_to === undefined
            ? {}
            : {
                time_period: [{ start_date: from < firstDay ? firstDay : from, end_date: input.date_to ?? lastDay }]
              })
        },
        fields: [
          "Award ID",
          "Recipient Name",
          amount,
          "Awarding Agency",
          start,
          ...(end === null ? [] : [end]),
          "Description",
          ...(kind === null ? [] : [kind])
        ],
        sort: amount,
        order: "desc",
        page: pageOf(input.cursor),
        limit: input.limit ?? govContractsDefaultLimit
      }
    }
  },
  response: (reply, input) => {
    const { amount, start, end, kind } = columns(typeOf(input))
    const more = flag(reply.body, "page_metadata", "hasNext") === true
    return pageFrom(reply.body, "results", {
      none: "no awards found",
      limit: input.limit ?? govContractsDefaultLimit,
      item: (award) => {
        const id = text(award, "generated_internal_id")
        return {
          award_id: text(award, "Award ID"),
          recipient: text(award, "Recipient Name"),
          amount: number(award, amount),
          agency: text(award, "Awarding Agency"),
          start_date: text(award, start),
          end_date: end === null ? null : text(award, end),
          description: text(award, "Description"),
          type: kind === null ? null : text(award, kind),
          url: id === null ? null : `https://www.usaspending.gov/award/${segmentOf(id)}`
        }
      },
      next_cursor: issue(slug, more ? String(pageOf(input.cursor) + 1) : null)
    })
  }
})

type EntityInput = InputOf<typeof govEntity>

const normalized = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}]+/gu, " ")
    .trim()

/** A recipient has up to three entries. The parent's entry (P) includes the awards of all its children. */
const levels = ["P", "R", "C"]

/** Selects an entry: the one with the requested UEI, else the one with exactly the name, else the one with the largest awards. */
const selectEntry = (results: ReadonlyArray<unknown>, input: EntityInput): unknown => {
  const ranked = [...results].sort(
    (a, b) => levels.indexOf(text(a, "recipient_level") ?? "") - levels.indexOf(text(b, "recipient_level") ?? "")
  )
  const { uei, name } = input
  if (uei !== undefined) return ranked.find((one) => text(one, "uei") === uei.toUpperCase())
  return ranked.find((one) => normalized(text(one, "name") ?? "") === normalized(name ?? "")) ?? results[0]
}

/** Ids end with the level, such as 1c3edaaa-611b-840c-bf2b-fd34df49f21f-P. */
const idPattern = /^[0-9a-f-]{36}-[PCR]$/

const recipientCall = (state: Schema.Json): Call => ({
  method: "GET",
  path: `/api/v2/recipient/${segmentOf(text(state, "recipient_id") ?? "")}/`,
  query: { year: "all" }
})

const entity = offer(govEntity, {
  price: free,
  note: `${note} Only recipients of awards.`,
  wraps: ["POST /api/v2/recipient/", "GET /api/v2/recipient/{recipient_id}/"],
  serves: (input) => input.name !== undefined || input.uei !== undefined,
  request: (input) => ({
    body: {
      keyword: input.uei?.toUpperCase() ?? input.name,
      award_type: "all",
      sort: "amount",
      order: "desc",
      page: 1,
      limit: 50
    }
  }),
  next: recipientCall,
  response: (reply, input, state) => {
    if (state === null) {
      const results = list(reply.body, "results")
      if (results === null) return unreadable("results")
      const recipient = selectEntry(results, input)
      if (recipient === undefined) return noMatch("no recipient found")
      const recipient_id = text(recipient, "id")
      if (recipient_id === null || !idPattern.test(recipient_id)) return unreadable("id of the recipient")
      return { _tag: "Again", state: { recipient_id }, afterMillis: 0, job: false }
    }
    const { body } = reply
    const name = text(body, "name")
    if (name === null) return unreadable("name")
    const place = at(body, "location")
    const parts = [
      text(place, "address_line1"),
      text(place, "address_line2"),
      text(place, "city_name"),
      [text(place, "state_code"), text(place, "zip")].filter((part) => part !== null).join(" "),
      text(place, "country_name")
    ]
    return match({
      name,
      ids: { uei: text(body, "uei"), duns: text(body, "duns"), cik: null, tickers: null },
      address: parts.filter((part) => part !== null && part !== "").join(", ") || null,
      total_awarded: number(body, "total_transaction_amount"),
      sic: null,
      filings_count: null
    })
  }
})

export const usaspending = provider({
  slug,
  title: "USAspending",
  homepage: "https://www.usaspending.gov",
  base_url: "https://api.usaspending.gov",
  auth: { kind: "contact" },
  free: true,
  concurrency: 5,
  timeoutMillis: 30_000,
  httpErrors: httpErrors(),
  offers: [contracts, entity]
})
