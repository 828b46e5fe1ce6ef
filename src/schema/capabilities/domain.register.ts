/**
 * domain.register: a domain name for the workspace, for some years.
 *
 * It buys something that can't be given back, so it runs at most once. Metered at a fixed price per year; a name that was
 * not registered is no match and is not charged.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { orNull } from "./shapes.ts"

/** Years when the input names none: what the price quotes and what every adapter registers. */
export const domainRegisterDefaultYears = 1
/** ICANN lets nobody register for longer. */
const yearsMax = 10

export const domainRegister = capability({
  slug: "domain.register",
  title: "Register a domain",
  category: "domain",
  description:
    "Registers (buys) a domain name for the workspace at a registrar, for one or more years. Check it with domain.check first. Premium names are refused.",
  tags: [
    ...["domain", "register", "domain name", "buy domain", "purchase domain", "registration", "registrar", "order"],
    ...["tld", "dns", "new domain", "sending domain"]
  ],
  status: "live",
  billing: {
    model: "metered",
    bills_no_match: false,
    description:
      "Base price plus a fixed price per year registered, never for more years than asked for (1 when left out). A name that is not registered costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    domain: Field.domain("The domain name to register, such as example.com"),
    years: Schema.optionalKey(
      Schema.Int.annotate({ description: "Years to register, 1 when left out" }).check(
        Schema.isBetween({ minimum: 1, maximum: yearsMax })
      )
    ),
    max_price: Schema.optionalKey(
      Schema.String.annotate({
        description:
          "Register nothing when the registrar's quote for all years is above this: US dollars as a decimal string such as 12.50"
      }).check(Schema.isPattern(/^(0|[1-9]\d{0,9})(\.\d{1,6})?$/u))
    ),
    agree_to_terms: Schema.Literal(true).annotate({
      description: "Must be true: you agree to the registrar's terms for this registration"
    })
  }),
  output: Schema.Struct({
    domain: Schema.NullOr(Schema.String),
    registered: Schema.Boolean,
    years: Schema.Int.annotate({ description: "Years registered, which are charged; 0 when it was not registered" }),
    order_id: orNull(Schema.String, "The registrar's order"),
    price_paid: orNull(Schema.String, "What the registrar took, in US dollars, a decimal string such as 9.73"),
    expires_at: orNull(Schema.String, "ISO 8601, when the registrar tells")
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
