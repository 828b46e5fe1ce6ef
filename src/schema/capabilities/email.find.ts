/**
 * email.find: a person's work e-mail address, from a name and a company.
 *
 * Charged only when an address is found that is not known to be invalid.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import { bouncesInSandbox } from "../runs/Scenario.ts"
import * as Field from "./fields.ts"
import { EmailStatus, fullName, nameParts, orNull, pick, sandboxDomain, slug, recordOf } from "./shapes.ts"

const WorkEmail = Schema.Struct({
  email: orNull(Schema.String, "The address; null when none was found"),
  email_status: Schema.NullOr(EmailStatus),
  confidence: orNull(Schema.Finite, "0 to 100, the provider's rating of its own answer"),
  first_name: Schema.NullOr(Schema.String),
  last_name: Schema.NullOr(Schema.String),
  company_domain: Schema.NullOr(Schema.String),
  source_count: orNull(Schema.Int, "Public pages on which the address was seen")
})
/** An answer with these fields. All others are null. */
export const workEmail = recordOf(WorkEmail)

export const emailFind = capability({
  slug: "email.find",
  title: "Find a work e-mail address",
  category: "people",
  description: "Finds a person's work e-mail address from the name and the company's domain or name.",
  tags: [
    ...[
      "email finder",
      "find email",
      "work email",
      "business email",
      "professional email",
      "email address of a person",
      "email lookup"
    ],
    ...["contact email", "what is the email of", "prospecting", "people", "contact"]
  ],
  status: "live",
  billing: {
    model: "on_match",
    bills_no_match: false,
    description:
      "Charged only when an address is found and its status is not invalid. No address, or an invalid one, costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    full_name: Schema.optionalKey(Field.fullName),
    first_name: Schema.optionalKey(Field.text("Given name, together with last_name", 100)),
    last_name: Schema.optionalKey(Field.text("Family name, together with first_name", 100)),
    company_domain: Schema.optionalKey(Field.companyDomain),
    company_name: Schema.optionalKey(Field.companyName),
    network_url: Schema.optionalKey(Field.networkUrl)
  }),
  anyOf: [
    ["full_name", "company_domain"],
    ["first_name", "last_name", "company_domain"],
    ["full_name", "company_name"],
    ["first_name", "last_name", "company_name"]
  ],
  output: WorkEmail,
  example: { full_name: "Jane Doe", company_domain: "example.com" },
  matched: (output) => output.email !== null && output.email_status !== "invalid",
  vouches: ({ email, email_status }) => (email_status === "valid" ? email : null),
  side_effect: false,
  simulate: ({ input, seed }) => {
    const domain = sandboxDomain(input)
    const parts = nameParts(input)
    const email = `${slug(fullName(input), ".") || "person"}@${domain}`
    return {
      email,
      email_status: bouncesInSandbox(email) ? "valid" : pick(seed, ["valid", "valid", "valid", "catch_all"]),
      confidence: 80 + (seed % 20),
      first_name: parts?.first_name ?? null,
      last_name: parts?.last_name ?? null,
      company_domain: domain,
      source_count: seed % 4
    }
  },
  missHints: (input) => [
    ...(input.company_domain === undefined ? ["Give company_domain instead of company_name."] : []),
    ...(input.full_name !== undefined && nameParts(input) === null ? ["Give both a first and a last name."] : []),
    "Try the name without middle names, titles or nicknames.",
    "Check with people.enrich that the person still works there."
  ]
})
