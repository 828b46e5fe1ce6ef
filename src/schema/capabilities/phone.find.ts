/**
 * phone.find: a person's direct or mobile number, from a profile, an e-mail address, or a name with an employer.
 *
 * Charged only when a number is found.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { orNull } from "./shapes.ts"

export const phoneFind = capability({
  slug: "phone.find",
  title: "Find a person's phone number",
  category: "people",
  description:
    "Finds a person's mobile or direct phone number from a professional network profile, an e-mail address, or a name with the employer's domain. To check a number you already have, use phone.lookup.",
  tags: [
    ...["phone", "phone number", "mobile", "cell phone", "direct dial", "telephone", "contact", "dialer"],
    ...["cold calling", "prospecting", "people", "enrichment"]
  ],
  status: "live",
  billing: {
    model: "on_match",
    bills_no_match: false,
    description: "Charged only when a phone number is found. No number costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    network_url: Schema.optionalKey(Field.networkUrl),
    email: Schema.optionalKey(Field.email("A work or private e-mail address of the person")),
    full_name: Schema.optionalKey(Field.fullName),
    company_domain: Schema.optionalKey(Field.companyDomain)
  }),
  anyOf: [["network_url"], ["email"], ["full_name", "company_domain"]],
  output: Schema.Struct({
    phone: orNull(Schema.String, "The number in E.164, such as +12025550143; null when none was found"),
    phone_type: orNull(Schema.String, "Such as mobile, direct or landline, if the provider reports it"),
    confidence: orNull(Schema.Finite, "0 to 100, the provider's rating of its own answer")
  }),
  example: { network_url: "https://www.linkedin.com/in/jane-doe" },
  matched: (output) => output.phone !== null,
  side_effect: false,
  // Numbers from 555-0100 to 555-0199 are reserved for fiction.
  simulate: ({ seed }) => ({
    phone: `+120255501${String(seed % 100).padStart(2, "0")}`,
    phone_type: "mobile",
    confidence: 80 + (seed % 20)
  }),
  missHints: (input) => [
    ...(input.network_url === undefined ? ["Give network_url: most providers look up numbers by profile."] : []),
    ...(input.email === undefined ? ["Give a work e-mail address; email.find can look one up."] : []),
    "Use the company's phone number instead: company.enrich returns it."
  ]
})
