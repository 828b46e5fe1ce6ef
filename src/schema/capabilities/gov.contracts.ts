/**
 * gov.contracts: contracts, grants and loans that the United States government has awarded, page by page.
 *
 * Free: the register is public.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { day } from "./gov.filings.ts"
import { listOf, nextPage, orNull, pick } from "./shapes.ts"

/** The default limit, which every adapter requests. */
export const govContractsDefaultLimit = 10

export const govContracts = capability({
  slug: "gov.contracts",
  title: "Search government contracts",
  category: "gov",
  description:
    "Finds US federal contracts, grants and loans (USAspending) by recipient company, keyword, awarding agency or NAICS industry code, with amount and dates.",
  tags: [
    ...["gov", "contracts", "government", "federal", "awards", "usaspending", "spending", "procurement", "grants"],
    ...["loans", "agency", "contractor", "vendor", "supplier", "public sector", "tender", "naics", "recipient", "free"]
  ],
  status: "live",
  billing: { model: "per_call", bills_no_match: false, description: "Free: public awards cost nothing." },
  platforms: [],
  input: Schema.Struct({
    recipient: Schema.optionalKey(Field.text("Name of the company or body that got the award", 200)),
    keyword: Schema.optionalKey(Field.text("Words in the award", 200)),
    agency: Schema.optionalKey(Field.text("The awarding agency by its full name, such as Department of Energy", 200)),
    naics: Schema.optionalKey(
      Schema.Array(Schema.String.check(Schema.isPattern(/^\d{2,6}$/u)))
        .annotate({ description: "NAICS industry codes of 2 to 6 digits; one match is enough" })
        .check(Schema.isMinLength(1), Schema.isMaxLength(20))
    ),
    award_types: Schema.optionalKey(
      Schema.Literals(["contracts", "grants", "loans"]).annotate({
        description: "Type of award, contracts by default"
      })
    ),
    date_from: Schema.optionalKey(day("Active on this day or later, such as 2025-01-01")),
    date_to: Schema.optionalKey(day("Active on this day or earlier, such as 2025-12-31")),
    limit: Schema.optionalKey(Field.limit("Maximum number of awards, 10 by default", 100)),
    cursor: Schema.optionalKey(Field.text("next_cursor of the previous page, with the same filters", 2048))
  }),
  anyOf: [["recipient"], ["keyword"], ["agency"], ["naics"]],
  output: listOf("Total number of matching awards, if the register reports it", nextPage, {
    award_id: orNull(Schema.String, "The award's number"),
    recipient: Schema.NullOr(Schema.String),
    amount: orNull(Schema.Finite, "Amount in US dollars"),
    agency: orNull(Schema.String, "The awarding agency"),
    start_date: Schema.NullOr(Schema.String),
    end_date: Schema.NullOr(Schema.String),
    description: Schema.NullOr(Schema.String),
    type: orNull(Schema.String, "Type of award in the register's words"),
    url: orNull(Schema.String, "URL of the award in the register")
  }),
  example: { recipient: "Example Contractor", award_types: "contracts", limit: 5 },
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const count = (input.limit ?? govContractsDefaultLimit) - (partial ? 1 : 0)
    const items = Array.from({ length: count }, (_, index) => ({
      award_id: `SIM${seed}X${index + 1}`,
      recipient: input.recipient ?? "EXAMPLE CONTRACTOR, LLC",
      amount: 10_000 + ((seed + index * 997) % 5_000_000),
      agency:
        input.agency ?? pick(seed + index, ["Department of Energy", "Department of Defense", "Department of State"]),
      start_date: input.date_from ?? "2025-10-01",
      end_date: input.date_to ?? "2026-09-30",
      description: `Made-up award${input.keyword === undefined ? "" : ` for ${input.keyword}`}`,
      type: input.award_types ?? "contracts",
      url: `https://awards.example/SIM${seed}X${index + 1}`
    }))
    return { items, total: count, next_cursor: null }
  },
  missHints: (input) => [
    ...(input.award_types === undefined || input.award_types === "contracts"
      ? ["Try award_types grants or loans."]
      : ["Leave out award_types to search contracts."]),
    ...(input.recipient === undefined
      ? []
      : ["Give the recipient's legal name; gov.entity shows how the government spells it."]),
    ...(input.agency === undefined ? [] : ["Give the agency's full name, or leave it out."]),
    ...(input.date_from === undefined && input.date_to === undefined ? [] : ["Widen date_from and date_to."])
  ]
})
