/**
 * company.enrich: data about one company, looked up by its domain, name or network page.
 *
 * Charged only when the company was found.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { company, Company, location, pick, profileSlug, sandboxDomain, slug, titleCase } from "./shapes.ts"
import { defined } from "../defined.ts"

export const companyEnrich = capability({
  slug: "company.enrich",
  title: "Enrich a company",
  category: "company",
  description:
    "Returns a company's industry, size, location, description and more from its domain, name or network page.",
  tags: [
    ...[
      "company enrichment",
      "enrich a company",
      "firmographics",
      "firmographic data",
      "company data",
      "company profile",
      "company lookup"
    ],
    ...[
      "company info",
      "headcount",
      "employee count",
      "revenue",
      "industry",
      "account enrichment",
      "about a company",
      "domain to company"
    ]
  ],
  status: "live",
  billing: {
    model: "on_match",
    bills_no_match: false,
    description: "Charged only when the company is found. A miss costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    domain: Schema.optionalKey(Field.companyDomain),
    name: Schema.optionalKey(Field.text("The company's name; the domain is more exact", 200)),
    network_url: Schema.optionalKey(
      Field.text("The company's professional network page, such as https://www.linkedin.com/company/example", 2048)
    )
  }),
  anyOf: [["domain"], ["name"], ["network_url"]],
  output: Company,
  example: { domain: "example.com" },
  matched: (output) => output.name !== null,
  side_effect: false,
  simulate: ({ input, provider, seed }) => {
    const named =
      input.name ?? (input.domain === undefined ? titleCase(profileSlug(input.network_url ?? "")) : undefined)
    const domain = sandboxDomain(defined({ company_domain: input.domain, company_name: named }))
    const name = named ?? titleCase(domain.split(".")[0] ?? "")
    return company({
      name: name === "" ? "Sample Company" : name,
      domain,
      website: `https://${domain}`,
      network_url: input.network_url ?? `https://network.example/company/${slug(name, "-") || "sample"}`,
      industry: pick(seed, ["software", "logistics", "manufacturing", "retail"]),
      employee_count: 51 + (seed % 150),
      employee_range: "51-200",
      founded_year: 1990 + (seed % 30),
      location: location(
        pick(seed, ["Berlin", "Austin", "Lyon"]),
        null,
        pick(seed, ["Germany", "United States", "France"])
      ),
      description: `A made-up company that stands in for ${name || domain}.`,
      revenue: "10000000-50000000",
      technologies: ["PostgreSQL", "TypeScript"],
      provider_ids: { [provider]: `sim_${seed}` }
    })
  },
  missHints: (input) => [
    ...(input.domain === undefined ? ["Give the company's domain instead of its name or page."] : []),
    "Try the parent company, or the domain without a subdomain."
  ]
})
