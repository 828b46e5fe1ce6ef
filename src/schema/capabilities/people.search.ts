/**
 * people.search: people who match filters, page by page.
 *
 * Metered: a base price plus a price per person, never for more than the limit. A search that finds nobody is not charged.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { listOf, location, nextPage, person, Person, pick, sandboxDomain, slug, titleCase } from "./shapes.ts"

/** The default limit. The quote is for as many results, and every adapter requests as many. */
export const peopleSearchDefaultLimit = 10

const givenNames = ["Alex", "Robin", "Kim", "Sam", "Noa", "Jules"] as const
const family = ["Sample", "Placeholder", "Specimen", "Mockup", "Fixture"] as const

export const peopleSearch = capability({
  slug: "people.search",
  title: "Search for people",
  category: "people",
  description:
    "Finds people by job title, seniority, employer, place, industry or keywords. Results are profiles; look up addresses with email.find.",
  tags: [
    ...[
      "people search",
      "search people",
      "find people",
      "person search",
      "people",
      "persons",
      "contacts",
      "prospecting",
      "leads"
    ],
    ...[
      "lead list",
      "lead generation",
      "list of people",
      "directors",
      "managers",
      "executives",
      "founders",
      "engineers",
      "employees"
    ],
    ...["job title", "seniority", "location", "who works at", "who are the", "decision makers", "candidates", "ppl"]
  ],
  status: "live",
  billing: {
    model: "metered",
    bills_no_match: false,
    description:
      "Base price plus a price per person delivered, never for more people than the limit (10 by default). A search that finds nobody costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    titles: Schema.optionalKey(Field.texts("Job titles; one match is enough", 200, 20)),
    seniorities: Schema.optionalKey(Field.texts("Seniorities such as director, vp, cxo; one match is enough", 50, 20)),
    name: Schema.optionalKey(Field.text("The person's name", 200)),
    company_domains: Schema.optionalKey(Field.domains("Employers by domain; one match is enough", 50)),
    company_names: Schema.optionalKey(Field.texts("Employers by name; one match is enough", 200, 50)),
    locations: Schema.optionalKey(Field.texts("Cities, regions or countries; one match is enough", 200, 20)),
    industries: Schema.optionalKey(Field.texts("Industries; one match is enough", 200, 20)),
    employee_range: Schema.optionalKey(
      Field.text(
        "The employer's size band: 1-10, 11-50, 51-200, 201-500, 501-1000, 1001-5000, 5001-10000 or 10001+",
        20
      )
    ),
    keywords: Schema.optionalKey(Field.text("Words from the profile", 400)),
    limit: Schema.optionalKey(Field.limit("Maximum number of people, 10 by default", 100)),
    cursor: Schema.optionalKey(Field.text("next_cursor of the previous page, with the same filters", 2048))
  }),
  anyOf: [
    ["titles"],
    ["seniorities"],
    ["name"],
    ["company_domains"],
    ["company_names"],
    ["locations"],
    ["industries"],
    ["employee_range"],
    ["keywords"]
  ],
  output: listOf("Total number of matching people, if the provider reports it", nextPage, Person.fields),
  example: { titles: ["head of sales"], company_domains: ["example.com"], limit: 5 },
  side_effect: false,
  simulate: ({ input, provider, seed, partial }) => {
    const count = (input.limit ?? peopleSearchDefaultLimit) - (partial ? 1 : 0)
    const domain = sandboxDomain({
      ...(input.company_domains?.[0] === undefined ? {} : { company_domain: input.company_domains[0] }),
      ...(input.company_names?.[0] === undefined ? {} : { company_name: input.company_names[0] })
    })
    const items = Array.from({ length: count }, (_, index) => {
      const first = pick(seed + index, givenNames)
      const last = pick(Math.trunc(seed / 7) + index, family)
      const title = titleCase(input.titles?.[0] ?? "Account Executive")
      const company = input.company_names?.[0] ?? titleCase(domain.split(".")[0] ?? "")
      return person({
        full_name: input.name ?? `${first} ${last}`,
        first_name: input.name === undefined ? first : null,
        last_name: input.name === undefined ? last : null,
        headline: `${title} at ${company}`,
        title,
        seniority: input.seniorities?.[0] ?? null,
        company_name: company,
        company_domain: domain,
        network_url: `https://network.example/in/${slug(input.name ?? `${first} ${last}`, "-")}-${index + 1}`,
        location: location(null, null, input.locations?.[0] ?? "Germany"),
        provider_ids: { [provider]: `sim_${seed}_${index + 1}` }
      })
    })
    return { items, total: count, next_cursor: null }
  },
  missHints: (input) => [
    ...(input.seniorities === undefined ? [] : ["Drop seniorities: titles alone find more."]),
    ...(input.titles === undefined ? [] : ["Widen titles, for example sales instead of head of enterprise sales."]),
    ...(input.locations === undefined ? [] : ["Give a country in locations instead of a city."]),
    ...(input.company_names === undefined ? [] : ["Search by company_domains instead of company_names."]),
    ...(input.name === undefined
      ? []
      : ["Search by company_domains instead of name, or add a second filter to the name."]),
    "Use fewer filters at once."
  ]
})
