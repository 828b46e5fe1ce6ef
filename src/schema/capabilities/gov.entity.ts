/**
 * gov.entity: a company or organization in the registers of the United States government: identifiers, address and awards.
 *
 * Free: the registers are public.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { cik, ticker } from "./gov.filings.ts"
import { orNull } from "./shapes.ts"

export const govEntity = capability({
  slug: "gov.entity",
  title: "Look up an entity in government registers",
  category: "gov",
  description:
    "Looks up a company or organization in US government registers (USAspending, SEC EDGAR) by name, UEI, CIK or ticker: identifiers, address, industry code (SIC), total federal awards and number of filings.",
  tags: [
    ...["gov", "entity", "government", "company", "organization", "recipient", "contractor", "vendor", "uei", "duns"],
    ...["cik", "ticker", "sic", "sec", "edgar", "usaspending", "sam", "register", "registry", "legal name", "free"]
  ],
  status: "live",
  billing: { model: "per_call", bills_no_match: false, description: "Free: public registers cost nothing." },
  platforms: [],
  input: Schema.Struct({
    name: Schema.optionalKey(Field.text("The entity's name; an identifier is more exact", 200)),
    uei: Schema.optionalKey(
      Schema.String.annotate({
        description: "Unique Entity Identifier, 12 letters and digits, such as NUDGYLBB4S99"
      }).check(Schema.isPattern(/^[A-Za-z0-9]{12}$/u))
    ),
    cik: Schema.optionalKey(cik),
    ticker: Schema.optionalKey(ticker)
  }),
  anyOf: [["name"], ["uei"], ["cik"], ["ticker"]],
  output: Schema.Struct({
    name: orNull(Schema.String, "The entity's name in the register"),
    ids: Schema.Struct({
      uei: Schema.NullOr(Schema.String),
      duns: Schema.NullOr(Schema.String),
      cik: Schema.NullOr(Schema.String),
      tickers: orNull(Schema.Array(Schema.String), "Stock symbols; null if the register does not list them")
    }).annotate({ description: "The entity's identifiers" }),
    address: orNull(Schema.String, "The address on one line"),
    total_awarded: orNull(Schema.Finite, "Sum of all federal awards, in US dollars"),
    sic: orNull(Schema.String, "Standard Industrial Classification code"),
    filings_count: orNull(Schema.Int, "Filings with the SEC that the register lists")
  }),
  example: { name: "Example Contractor" },
  matched: (output) => output.name !== null,
  side_effect: false,
  simulate: ({ input, seed }) => ({
    name: input.name ?? `${input.ticker?.toUpperCase() ?? "Sample"} Entity (simulated)`,
    ids: {
      uei: input.uei?.toUpperCase() ?? `SIM${String(seed % 1_000_000_000).padStart(9, "0")}`,
      duns: null,
      cik: input.cik?.padStart(10, "0") ?? null,
      tickers: input.ticker === undefined ? null : [input.ticker.toUpperCase()]
    },
    address: "1 Sample Street, Springfield, IL 62701, United States",
    total_awarded: 10_000 + (seed % 5_000_000),
    sic: "7372",
    filings_count: seed % 200
  }),
  missHints: (input) => [
    ...(input.uei === undefined && input.cik === undefined && input.ticker === undefined
      ? ["Give an identifier: ticker or cik for a listed company, uei for a contractor."]
      : ["Give the name instead, as the entity writes it in contracts."]),
    "Try the parent company, or the legal name without Inc. or LLC."
  ]
})
