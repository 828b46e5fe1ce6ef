/**
 * domain.check: whether a domain name can be registered, and for how much.
 *
 * Every delivered result is charged, also that a name is taken.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { orNull, pick, recordOf } from "./shapes.ts"

const Registration = Schema.Struct({
  domain: Schema.NullOr(Schema.String),
  available: orNull(Schema.Boolean, "Whether it can be registered now"),
  premium: orNull(
    Schema.Boolean,
    "True for a premium name with a price of its own; domain.register does not buy these"
  ),
  price: orNull(Schema.String, "The registrar's price for the first year, a decimal string such as 9.73"),
  renewal_price: orNull(Schema.String, "The registrar's price for each later year"),
  currency: orNull(Schema.String, "Currency of both prices, such as USD"),
  min_years: orNull(Schema.Int, "Minimum number of years to register")
})
/** What is known of a domain. All other fields are null. */
export const registration = recordOf(Registration)

export const domainCheck = capability({
  slug: "domain.check",
  title: "Check a domain's availability",
  category: "domain",
  description:
    "Checks whether a domain name is available to register, whether it is a premium name, and its first-year and renewal price.",
  tags: [
    ...[
      "domain",
      "check",
      "domain name",
      "availability",
      "available",
      "taken",
      "registrar",
      "whois",
      "price",
      "premium"
    ],
    ...["renewal", "tld", "dns", "buy domain", "domain search"],
    ...["domain availability", "domain price", "is a domain free", "cost of a domain", "domain name search"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: false,
    description: "Charged for every delivered result, available or taken. A check without a result costs nothing."
  },
  platforms: [],
  input: Schema.Struct({ domain: Field.domain("The domain name to check, such as example.com") }),
  output: Registration,
  example: { domain: "example.com" },
  matched: (output) => output.available !== null,
  side_effect: false,
  simulate: ({ input, seed }) => ({
    domain: input.domain.toLowerCase(),
    available: pick(seed, [true, true, false]),
    premium: false,
    price: "9.73",
    renewal_price: "12.34",
    currency: "USD",
    min_years: 1
  }),
  missHints: () => ["Try another ending, such as .com or .net.", "Leave out a subdomain such as www."]
})
