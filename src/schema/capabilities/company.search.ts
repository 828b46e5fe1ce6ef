/**
 * company.search: companies that match filters, page by page.
 *
 * Metered: a base price plus a price per company, never for more than the limit. A search that finds none is not charged.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { company, Company, listOf, location, nextPage, pick, slug, titleCase } from "./shapes.ts"

/** The default limit. The quote is for as many results, and every adapter requests as many. */
export const companySearchDefaultLimit = 10

/** The oldest company still in business was founded in 578. */
const founded = (description: string) =>
  Schema.Int.annotate({ description }).check(Schema.isBetween({ minimum: 500, maximum: 2100 }))

const trades = ["Systems", "Works", "Labs", "Logistics", "Partners", "Group"] as const

export const companySearch = capability({
  slug: "company.search",
  title: "Search for companies",
  category: "company",
  description:
    "Finds companies by industry, place, size, technologies in use, keywords, founding year or a description in words, and returns a list of company profiles. For one company you already know, use company.enrich.",
  tags: [
    ...["company", "companies", "search", "organizations", "businesses", "accounts", "list", "firmographics"],
    ...["prospecting", "leads", "lookalike", "startups", "market map", "icp", "tam"],
    ...[
      "company list",
      "list of companies",
      "list of startups",
      "find companies",
      "companies by industry",
      "company database",
      "account list"
    ]
  ],
  status: "live",
  billing: {
    model: "metered",
    bills_no_match: false,
    description:
      "Base price plus a price per company delivered, never for more companies than the limit (10 by default). A search that finds none costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    query: Schema.optionalKey(Field.text("The company's name, or what it does in plain words", 400)),
    industries: Schema.optionalKey(Field.texts("Industries; one match is enough", 200, 20)),
    locations: Schema.optionalKey(
      Field.texts("Cities, regions or countries of the headquarters; one match is enough", 200, 20)
    ),
    employee_ranges: Schema.optionalKey(
      Schema.Array(
        Schema.Literals([
          ...(["1-10", "11-50", "51-200", "201-500"] as const),
          ...(["501-1000", "1001-5000", "5001-10000", "10001+"] as const)
        ])
      )
        .annotate({ description: "Size bands by number of employees; one match is enough" })
        .check(Schema.isMinLength(1), Schema.isMaxLength(8))
    ),
    technologies: Schema.optionalKey(
      Field.texts("Technologies in use, such as Salesforce; one match is enough", 100, 20)
    ),
    keywords: Schema.optionalKey(Field.texts("Words from the company's description; one match is enough", 100, 20)),
    founded_min: Schema.optionalKey(founded("Founded in this year or later")),
    founded_max: Schema.optionalKey(founded("Founded in this year or before")),
    limit: Schema.optionalKey(Field.limit("Maximum number of companies, 10 by default", 100)),
    cursor: Schema.optionalKey(Field.text("next_cursor of the previous page, with the same filters", 2048))
  }),
  anyOf: [
    ["query"],
    ["industries"],
    ["locations"],
    ["employee_ranges"],
    ["technologies"],
    ["keywords"],
    ["founded_min"],
    ["founded_max"]
  ],
  output: listOf("Total number of matching companies, if the provider reports it", nextPage, Company.fields),
  example: { industries: ["logistics"], locations: ["Germany"], limit: 5 },
  side_effect: false,
  simulate: ({ input, provider, seed, partial }) => {
    const count = (input.limit ?? companySearchDefaultLimit) - (partial ? 1 : 0)
    const subject = titleCase(input.query ?? input.keywords?.[0] ?? "Sample").slice(0, 60) || "Sample"
    const items = Array.from({ length: count }, (_, index) => {
      const name = `${subject} ${pick(seed + index, trades)} ${index + 1}`
      const domain = `${slug(name, "-")}.example`
      const year = Math.max(input.founded_min ?? 0, 1990 + ((seed + index) % 30))
      const size = input.employee_ranges?.[0] ?? "51-200"
      return company({
        name,
        domain,
        website: `https://${domain}`,
        network_url: `https://network.example/company/${slug(name, "-")}`,
        industry: input.industries?.[0] ?? pick(seed + index, ["software", "logistics", "manufacturing", "retail"]),
        employee_count: Number.parseInt(size, 10),
        employee_range: size,
        founded_year: Math.min(input.founded_max ?? year, year),
        location: location(null, null, input.locations?.[0] ?? "Germany"),
        description: `A made-up company that stands in for ${subject}.`,
        technologies: input.technologies === undefined ? null : [...input.technologies],
        provider_ids: { [provider]: `sim_${seed}_${index + 1}` }
      })
    })
    return { items, total: count, next_cursor: null }
  },
  missHints: (input) => [
    ...(input.employee_ranges === undefined ? [] : ["Drop employee_ranges or add the neighbouring bands."]),
    ...(input.locations === undefined ? [] : ["Give a country in locations instead of a city."]),
    ...(input.industries === undefined ? [] : ["Use a broader industry, or put it into keywords."]),
    ...(input.technologies === undefined ? [] : ["Drop technologies: few providers know them."]),
    ...(input.founded_min === undefined && input.founded_max === undefined ? [] : ["Drop the founding years."]),
    "Use fewer filters at once."
  ]
})
