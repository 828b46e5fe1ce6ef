/**
 * domain.register: registers a domain name for the organization.
 *
 * A registration can't be undone, so it acts at most once. Metered at a fixed price per year. A name that was not registered is `no_match`
 * and is not charged.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { orNull } from "./shapes.ts"

/** The default number of years. The quote is for as many years, and every adapter registers as many. */
export const domainRegisterDefaultYears = 1
/** ICANN's maximum. */
const yearsMax = 10

export const domainRegister = capability({
  slug: "domain.register",
  title: "Register a domain",
  category: "domain",
  description:
    "Registers (buys) a domain name for the organization at a registrar, for one or more years. Check it with domain.check first. Premium names are refused.",
  tags: [
    ...["domain", "register", "domain name", "buy domain", "purchase domain", "registration", "registrar", "order"],
    ...["tld", "dns", "new domain", "sending domain"]
  ],
  status: "live",
  billing: {
    model: "metered",
    bills_no_match: false,
    description:
      "Base price plus a fixed price per year registered, never for more years than asked for (1 by default). A name that is not registered costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    domain: Field.domain("The domain name to register, such as example.com"),
    years: Schema.optionalKey(
      Schema.Int.annotate({ description: "Number of years to register, 1 by default" }).check(
        Schema.isBetween({ minimum: 1, maximum: yearsMax })
      )
    ),
    max_price: Schema.optionalKey(
      Schema.String.annotate({
        description:
          "Maximum of the registrar's quote for all years, in US dollars, a decimal string such as 12.50; above it nothing is registered"
      }).check(Schema.isPattern(/^(0|[1-9]\d{0,9})(\.\d{1,6})?$/u))
    ),
    agree_to_terms: Schema.Literal(true).annotate({
      description: "Must be true: you agree to the registrar's terms for this registration"
    })
  }),
  output: Schema.Struct({
    domain: Schema.NullOr(Schema.String),
    registered: Schema.Boolean,
    years: Schema.Int.annotate({
      description: "Number of registered years, which are charged; 0 if the name was not registered"
    }),
    order_id: orNull(Schema.String, "The registrar's order"),
    price_paid: orNull(Schema.String, "What the registrar charged, in US dollars, a decimal string such as 9.73"),
    expires_at: orNull(Schema.String, "Expiry time in ISO 8601, if the registrar reports it")
  }),
  example: { domain: "example.com", years: 1, max_price: "20.00", agree_to_terms: true },
  matched: (output) => output.registered,
  results: (output) => output.years,
  requested: (input) => input.years ?? domainRegisterDefaultYears,
  makes: ({ domain, registered }) => (registered === true && domain !== null ? [{ kind: "domain", id: domain }] : []),
  side_effect: true,
  simulate: ({ input, seed, partial }) => {
    const years = (input.years ?? domainRegisterDefaultYears) - (partial ? 1 : 0)
    const registered = years > 0
    return {
      domain: input.domain.toLowerCase(),
      registered,
      years,
      order_id: registered ? `sim_${seed}` : null,
      price_paid: registered ? `${years * 9}.00` : null,
      expires_at: registered ? `${2026 + years}-01-15T09:30:00Z` : null
    }
  },
  missHints: (input) => [
    "Check with domain.check that the name is available and not premium.",
    ...(input.max_price === undefined ? [] : ["Raise max_price above the registrar's quote for all years."]),
    ...(input.years === undefined || input.years === 1 ? [] : ["Register for 1 year and renew later."])
  ]
})
