/**
 * jobs.search: job postings, by title, employer and place.
 *
 * Metered: a base price plus a price per posting, never for more than the limit. A search that finds none is not charged.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { listOf, onePage, orNull, pick, sandboxDomain, slug, titleCase } from "./shapes.ts"

/** The default limit. The quote is for as many results, and every adapter requests as many. */
export const jobsSearchDefaultLimit = 10

export const jobsSearch = capability({
  slug: "jobs.search",
  title: "Search for job postings",
  category: "company",
  description:
    "Finds open job postings by job title, employer and place, with salary, employment type and the address to apply at. Shows who is hiring, and for what.",
  tags: [
    ...["jobs", "job postings", "job openings", "job listings", "job ads", "vacancies", "positions", "careers"],
    ...["hiring", "who is hiring", "hiring signals", "recruiting", "employment", "salary", "remote", "search"]
  ],
  status: "live",
  billing: {
    model: "metered",
    bills_no_match: false,
    description:
      "Base price plus a price per job delivered, never for more jobs than the limit (10 by default). A search that finds none costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    query: Schema.optionalKey(Field.text("Job title or words from it, such as data engineer", 200)),
    company_domain: Schema.optionalKey(Field.domain("Only jobs of this employer, by domain such as example.com")),
    company_name: Schema.optionalKey(Field.text("Only jobs of this employer, by name", 200)),
    location: Schema.optionalKey(Field.text("City, region or country of the job", 200)),
    remote: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "true: only remote jobs; false: only jobs on site; both by default" })
    ),
    posted_within_days: Schema.optionalKey(
      Schema.Int.annotate({ description: "Only jobs posted within this number of days" }).check(
        Schema.isBetween({ minimum: 1, maximum: 365 })
      )
    ),
    limit: Schema.optionalKey(Field.limit("Maximum number of jobs, 10 by default", 100))
  }),
  anyOf: [["query"], ["company_domain"], ["company_name"], ["location"]],
  output: listOf("Total number of matching jobs, if the provider reports it", onePage, {
    title: Schema.NullOr(Schema.String),
    company_name: Schema.NullOr(Schema.String),
    company_domain: Schema.NullOr(Schema.String),
    location: orNull(Schema.String, "The location as written in the posting"),
    url: orNull(Schema.String, "URL of the posting, or of the application page"),
    posted_at: orNull(Schema.String, "A date, or words such as 3 days ago, as the provider reports it"),
    employment_type: orNull(Schema.String, "Full-time, contract and the like, in the provider's words"),
    salary_min: Schema.NullOr(Schema.Finite),
    salary_max: Schema.NullOr(Schema.Finite),
    currency: orNull(Schema.String, "Currency of the salary, such as USD"),
    remote: Schema.NullOr(Schema.Boolean),
    description: Schema.NullOr(Schema.String)
  }),
  example: { query: "data engineer", location: "Berlin", limit: 5 },
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const count = (input.limit ?? jobsSearchDefaultLimit) - (partial ? 1 : 0)
    const domain = sandboxDomain(input)
    const employer = input.company_name ?? titleCase(domain.split(".")[0] ?? "")
    return {
      items: Array.from({ length: count }, (_, index) => {
        const jobTitle = input.query ?? pick(seed + index, ["data engineer", "account executive", "designer"])
        const title = titleCase(jobTitle) || "Job"
        return {
          title,
          company_name: employer,
          company_domain: domain,
          location: input.location ?? pick(seed + index, ["Berlin", "Austin", "Lyon"]),
          url: `https://jobs.example/${slug(title, "-") || "job"}-${index + 1}`,
          posted_at: `2026-01-${String(1 + ((seed + index) % 28)).padStart(2, "0")}`,
          employment_type: "full-time",
          salary_min: 50_000 + 1000 * (seed % 20),
          salary_max: 80_000 + 1000 * (seed % 20),
          currency: "EUR",
          remote: input.remote ?? (seed + index) % 2 === 0,
          description: `A made-up posting of ${employer}.`
        }
      }),
      total: count,
      next_cursor: null
    }
  },
  missHints: (input) => [
    ...(input.posted_within_days === undefined ? [] : ["Drop posted_within_days or raise it."]),
    ...(input.remote === undefined ? [] : ["Drop remote: many postings do not state it."]),
    ...(input.location === undefined ? [] : ["Give a country as location instead of a city."]),
    ...(input.company_domain !== undefined && input.company_name === undefined
      ? ["Add company_name: some boards know employers by name only."]
      : []),
    ...(input.query === undefined ? [] : ["Use a shorter or more common job title."]),
    "The employer may have no open positions."
  ]
})
