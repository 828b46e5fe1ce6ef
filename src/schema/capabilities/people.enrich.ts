/**
 * people.enrich: data about one person, looked up by a profile, an e-mail address, or a name with an employer.
 *
 * Charged only when the person is found.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import {
  domainPart,
  fullName,
  localPart,
  location,
  nameParts,
  orNull,
  person,
  personFields,
  pick,
  profileSlug,
  sandboxDomain,
  slug,
  titleCase
} from "./shapes.ts"
import { defined } from "../defined.ts"

export const Experience = Schema.Struct({
  title: Schema.NullOr(Schema.String),
  company_name: Schema.NullOr(Schema.String),
  company_domain: Schema.NullOr(Schema.String),
  start_date: orNull(Schema.String, "YYYY, YYYY-MM or YYYY-MM-DD, as exact as it is known"),
  end_date: orNull(Schema.String, "Null for a current position, or if it is not known"),
  is_current: Schema.NullOr(Schema.Boolean)
})
export const Education = Schema.Struct({
  school: Schema.NullOr(Schema.String),
  degree: Schema.NullOr(Schema.String),
  field: Schema.NullOr(Schema.String),
  start_date: Schema.NullOr(Schema.String),
  end_date: Schema.NullOr(Schema.String)
})

export const peopleEnrich = capability({
  slug: "people.enrich",
  title: "Enrich a person",
  category: "people",
  description:
    "Returns a person's profile, job, employer and history from a professional network profile, an e-mail address, or a name with an employer.",
  tags: [
    ...[
      "people enrichment",
      "enrich a person",
      "person enrichment",
      "person profile",
      "contact enrichment",
      "lead enrichment"
    ],
    ...[
      "reverse email lookup",
      "who is this person",
      "job title",
      "employer",
      "work history",
      "contact data",
      "social profile of a person"
    ]
  ],
  status: "live",
  billing: {
    model: "on_match",
    bills_no_match: false,
    description: "Charged only when the person is found. A miss costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    network_url: Schema.optionalKey(Field.networkUrl),
    email: Schema.optionalKey(Field.email("An e-mail address of the person")),
    full_name: Schema.optionalKey(Field.fullName),
    company_domain: Schema.optionalKey(Field.companyDomain),
    company_name: Schema.optionalKey(Field.companyName)
  }),
  anyOf: [["network_url"], ["email"], ["full_name", "company_domain"], ["full_name", "company_name"]],
  output: Schema.Struct({
    ...personFields,
    experience: orNull(Schema.Array(Experience), "Positions, latest first; null if the provider does not report them"),
    education: Schema.NullOr(Schema.Array(Education)),
    skills: Schema.NullOr(Schema.Array(Schema.String)),
    match_confidence: orNull(Schema.Finite, "0 to 1: how sure the provider is that this is the right person")
  }),
  example: { email: "jane.doe@example.com" },
  matched: (output) => output.full_name !== null || output.network_url !== null,
  side_effect: false,
  simulate: ({ input, provider, seed }) => {
    const statedName =
      input.full_name ??
      titleCase(input.email === undefined ? profileSlug(input.network_url ?? "") : localPart(input.email))
    const name = statedName === "" ? "Sam Sample" : statedName
    const employer = input.company_domain ?? (input.email === undefined ? undefined : domainPart(input.email))
    const domain = sandboxDomain({ ...input, ...defined({ company_domain: employer }) })
    const company = input.company_name ?? titleCase(domain.split(".")[0] ?? "")
    const title = pick(seed, ["Head of Sales", "Product Manager", "Software Engineer", "Marketing Director"])
    const parts = nameParts({ full_name: name })
    return {
      ...person({
        full_name: name,
        first_name: parts?.first_name ?? name,
        last_name: parts?.last_name ?? null,
        headline: `${title} at ${company}`,
        title,
        seniority: pick(seed, ["head", "manager", "senior", "director"]),
        company_name: company,
        company_domain: domain,
        network_url: input.network_url ?? `https://network.example/in/${slug(name, "-") || "sample"}`,
        location: location(
          pick(seed, ["Berlin", "Austin", "Lyon"]),
          null,
          pick(seed, ["Germany", "United States", "France"])
        ),
        email: input.email ?? `${slug(fullName({ full_name: name }), ".") || "sample"}@${domain}`,
        email_status: "valid",
        phone: `+1555${String(seed % 10_000_000).padStart(7, "0")}`,
        provider_ids: { [provider]: `sim_${seed}` }
      }),
      experience: [
        {
          title,
          company_name: company,
          company_domain: domain,
          start_date: "2021-03",
          end_date: null,
          is_current: true
        }
      ],
      education: [
        { school: "Example University", degree: null, field: "economics", start_date: "2010", end_date: "2014" }
      ],
      skills: ["negotiation", "planning"],
      match_confidence: 0.9
    }
  },
  missHints: (input) => [
    ...(input.network_url === undefined ? ["Give network_url, which identifies a person best."] : []),
    ...(input.email === undefined ? ["Give a work e-mail address; email.find can look one up."] : [])
  ]
})
