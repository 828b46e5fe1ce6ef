/**
 * gov.filings: the filings of companies with the United States securities regulator (SEC).
 *
 * Free: the register is public.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { listOf, orNull } from "./shapes.ts"

/** The default limit. Every adapter shortens its result to the limit. */
export const govFilingsDefaultLimit = 10

/** A calendar day, in the format that all government registers accept. */
export const day = (description: string) =>
  Schema.String.annotate({ description, format: "date" }).check(Schema.isMinLength(1), Schema.isMaxLength(10))

export const cik = Schema.String.annotate({
  description: "The company's number at the SEC (Central Index Key), with or without leading zeros, such as 320193"
}).check(Schema.isPattern(/^\d{1,10}$/u))

export const ticker = Schema.String.annotate({ description: "The company's stock symbol, such as AAPL" }).check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9.-]{0,9}$/u)
)

export const govFilings = capability({
  slug: "gov.filings",
  title: "Search company filings",
  category: "gov",
  description:
    "Finds filings of public companies with the US Securities and Exchange Commission (SEC EDGAR), such as annual reports (10-K), quarterly reports (10-Q) and current reports (8-K), by company, ticker, CIK or words in the text.",
  tags: [
    ...["gov", "filings", "government", "sec", "edgar", "10-k", "10-q", "8-k", "annual report", "quarterly report"],
    ...["proxy statement", "insider", "form 4", "s-1", "ipo", "public company", "stock", "ticker", "cik", "finance"],
    ...["financial statements", "disclosure", "free"]
  ],
  status: "live",
  billing: { model: "per_call", bills_no_match: false, description: "Free: public filings cost nothing." },
  platforms: [],
  input: Schema.Struct({
    cik: Schema.optionalKey(cik),
    ticker: Schema.optionalKey(ticker),
    company_name: Schema.optionalKey(Field.text("The company's name; cik or ticker is more exact", 200)),
    query: Schema.optionalKey(Field.text("Words in the text of the filing", 400)),
    forms: Schema.optionalKey(Field.texts("Form types such as 10-K or 8-K; one match is enough", 20, 20)),
    date_from: Schema.optionalKey(day("Filed on this day or later, such as 2025-01-01")),
    date_to: Schema.optionalKey(day("Filed on this day or earlier, such as 2025-12-31")),
    limit: Schema.optionalKey(Field.limit("Maximum number of filings, 10 by default", 100))
  }),
  anyOf: [["cik"], ["ticker"], ["company_name"], ["query"]],
  output: listOf(
    "Total number of matching filings, if the register reports it",
    "Always null: ask for a higher limit, or narrow the dates",
    {
      company: Schema.NullOr(Schema.String),
      cik: orNull(Schema.String, "The company's number at the SEC"),
      form: orNull(Schema.String, "Form type, such as 10-K"),
      filed_at: orNull(Schema.String, "Date of filing"),
      period: orNull(Schema.String, "Last day of the period that the filing reports on"),
      accession_number: orNull(Schema.String, "The filing's number"),
      url: orNull(Schema.String, "URL of the filing's main document"),
      description: Schema.NullOr(Schema.String)
    }
  ),
  example: { ticker: "AAPL", forms: ["10-K"], limit: 5 },
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const count = (input.limit ?? govFilingsDefaultLimit) - (partial ? 1 : 0)
    const number = (input.cik ?? String(seed % 1_000_000)).padStart(10, "0")
    const items = Array.from({ length: count }, (_, index) => {
      const form = input.forms?.[index % input.forms.length] ?? "10-K"
      const year = 2025 - index
      const accession = `0000000000-${String(Math.abs(year) % 100).padStart(2, "0")}-${String(index + 1).padStart(6, "0")}`
      return {
        company: input.company_name ?? `${input.ticker?.toUpperCase() ?? "Sample"} (simulated)`,
        cik: number,
        form,
        filed_at: input.date_to ?? input.date_from ?? `${year}-11-01`,
        period: null,
        accession_number: accession,
        url: `https://filings.example/${Number(number)}/${accession}.htm`,
        description: `Made-up ${form}${input.query === undefined ? "" : ` about ${input.query}`}`
      }
    })
    return { items, total: count, next_cursor: null }
  },
  missHints: (input) => [
    ...(input.forms === undefined ? [] : ["Leave out forms."]),
    ...(input.date_from === undefined && input.date_to === undefined ? [] : ["Widen date_from and date_to."]),
    ...(input.cik === undefined && input.ticker === undefined
      ? ["Give ticker or cik; gov.entity looks up the cik of a name."]
      : ["Check the symbol or number: only companies that file in the United States have filings."]),
    ...(input.query === undefined ? [] : ["Use fewer words in query."])
  ]
})
