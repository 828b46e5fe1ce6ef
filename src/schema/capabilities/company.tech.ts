/**
 * company.tech: the technologies that a company's website uses.
 *
 * Charged only when at least one was found.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { orNull } from "./shapes.ts"

export const companyTech = capability({
  slug: "company.tech",
  title: "Find a company's technologies",
  category: "company",
  description:
    "Returns the technologies a company's website uses (content management, analytics, hosting, shop, marketing tools) by category, from its domain. To find companies by the technologies they use, use company.search.",
  tags: [
    ...["technologies", "tech stack", "technographics", "stack", "cms", "analytics", "frameworks", "software"],
    ...["what is it built with", "website", "company", "domain"],
    ...["tech stack", "builtwith", "technology lookup", "cms detection", "technographics"]
  ],
  status: "coming_soon",
  billing: {
    model: "on_match",
    bills_no_match: false,
    description: "Charged only when at least one technology is found. A domain without any costs nothing."
  },
  platforms: [],
  input: Schema.Struct({ domain: Field.companyDomain }),
  output: Schema.Struct({
    domain: Schema.NullOr(Schema.String),
    technologies: Schema.Array(
      Schema.Struct({
        name: Schema.NullOr(Schema.String),
        category: orNull(Schema.String, "Category in the provider's words, such as cms or web_analytics")
      })
    ),
    detected_at: orNull(Schema.String, "Time of the last check of the site")
  }),
  example: { domain: "example.com" },
  matched: (output) => output.technologies.length > 0,
  side_effect: false,
  simulate: ({ input, seed }) => {
    const technologies = [
      { name: "WordPress", category: "cms" },
      { name: "Google Analytics", category: "web_analytics" },
      { name: "Cloudflare", category: "cdn" },
      { name: "HubSpot", category: "marketing_automation" },
      { name: "React", category: "javascript_frameworks" }
    ]
    return {
      domain: input.domain.toLowerCase(),
      technologies: technologies.slice(0, 2 + (seed % 4)),
      detected_at: `2026-01-${String(1 + (seed % 28)).padStart(2, "0")}`
    }
  },
  missHints: () => [
    "Try the main domain without a subdomain.",
    "Use company.enrich, which lists technologies for some companies."
  ]
})
