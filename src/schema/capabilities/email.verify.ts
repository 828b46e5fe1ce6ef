/**
 * email.verify: whether an address can receive mail.
 *
 * Every delivered result is charged, also "unknown".
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import { bouncesInSandbox } from "../runs/Scenario.ts"
import * as Field from "./fields.ts"
import { domainPart, EmailStatus, localPart, orNull, pick, recordOf } from "./shapes.ts"

const freeHosts = new Set(["gmail.com", "outlook.com", "yahoo.com", "icloud.com", "proton.me"])
const roleNames = new Set(["info", "sales", "support", "admin", "contact", "hello", "office", "billing"])

const Verdict = Schema.Struct({
  email: Schema.NullOr(Schema.String),
  email_status: Schema.NullOr(EmailStatus),
  score: orNull(Schema.Finite, "0 to 100, higher is safer to send to"),
  is_disposable: Schema.NullOr(Schema.Boolean),
  is_role: orNull(
    Schema.Boolean,
    "True if the address belongs to a function, such as info@ or sales@, and not to a person"
  ),
  is_free: orNull(Schema.Boolean, "True if a free mail service hosts the address"),
  mx_found: orNull(Schema.Boolean, "True if the domain has a mail server"),
  did_you_mean: orNull(Schema.String, "The address that was probably meant"),
  provider_status: orNull(Schema.String, "The result in the provider's own words")
})
/** A verdict with these fields. All others are null. */
export const emailVerdict = recordOf(Verdict)

export const emailVerify = capability({
  slug: "email.verify",
  title: "Verify an e-mail address",
  category: "people",
  description: "Checks whether an e-mail address exists and can receive mail, without sending anything to it.",
  tags: [
    ...[
      "email verification",
      "verify email",
      "email verifier",
      "email validation",
      "validate email",
      "check email",
      "email checker"
    ],
    ...["deliverability", "bounce check", "catch-all", "disposable email", "list cleaning", "hygiene", "mailbox exists"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: true,
    description: "Charged for every delivered result, including unknown. A failed call costs nothing."
  },
  platforms: [],
  input: Schema.Struct({ email: Field.email("The address to check") }),
  output: Verdict,
  example: { email: "jane.doe@example.com" },
  inconclusive: (output) => output.email_status === "unknown",
  matched: () => true,
  vouches: ({ email, email_status }) => (email_status === "valid" ? email : null),
  side_effect: false,
  simulate: ({ input, seed }) => {
    const local = localPart(input.email).toLowerCase()
    const domain = domainPart(input.email)
    const statuses = ["valid", "valid", "valid", "catch_all", "risky", "invalid"] as const
    const status = bouncesInSandbox(input.email) ? "valid" : pick(seed, statuses)
    return {
      email: input.email,
      email_status: status,
      score: { valid: 95, catch_all: 60, risky: 40, invalid: 5 }[status],
      is_disposable: false,
      is_role: roleNames.has(local),
      is_free: freeHosts.has(domain),
      mx_found: status !== "invalid",
      did_you_mean: null,
      provider_status: `simulated_${status}`
    }
  },
  missHints: () => ["Try another provider: providers may judge the same address differently."]
})
