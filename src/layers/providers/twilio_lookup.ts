/**
 * Twilio Lookup: whether a phone number can exist, and what kind of line and carrier it has.
 *
 * Formatting and validation are free there, the line type is not; no answer says what it has cost. A number that can't exist
 * is an answer (200, not valid), not an error.
 */
import { phoneLookup } from "../../schema/capabilities/phone.lookup.ts"
import { flat } from "../../schema/money/Pricing.ts"
import { offer, provider } from "../../schema/catalog/Provider.ts"
import { match } from "./kit/outcome.ts"
import { flag, text } from "./kit/read.ts"
import { httpErrors, unreadable } from "./kit/httpErrors.ts"

/** "+12025550143" of "+1 (202) 555-0143". Letters stay: the provider judges them. */
const compact = (phone: string): string => phone.replace(/[\s().\-/]/g, "")

const lookup = offer(phoneLookup, {
  // $0.008 × 1.2
  price: flat("0.0096"),
  note: "List price of a line type, $0.008, not confirmed by an answer; the caller's name would cost more and is not asked for.",
  wraps: [{ method: "GET", path: "/v2/PhoneNumbers/{PhoneNumber}" }],
  // Without a country the provider would take any number for an American one.
  serves: (input) =>
    /\d/.test(input.phone) && (compact(input.phone).startsWith("+") || input.country_code !== undefined),
  request: (input) => ({
    method: "GET",
    path: `/v2/PhoneNumbers/${encodeURIComponent(compact(input.phone))}`,
    query: { Fields: "line_type_intelligence", CountryCode: input.country_code?.toUpperCase() }
  }),
  response: (reply) => {
    const valid = flag(reply.body, "valid")
    if (valid === null) return unreadable("valid")
    return match({
      phone: text(reply.body, "phone_number"),
      national_format: text(reply.body, "national_format"),
      country_code: text(reply.body, "country_code"),
      valid,
      line_type: text(reply.body, "line_type_intelligence", "type"),
      carrier: text(reply.body, "line_type_intelligence", "carrier_name"),
      caller_name: text(reply.body, "caller_name", "caller_name")
    })
  }
})

export const twilioLookup = provider({
  slug: "twilio_lookup",
  title: "Twilio Lookup",
  homepage: "https://www.twilio.com/en-us/trusted-activation/lookup",
  base_url: "https://lookups.twilio.com",
  auth: { kind: "basic" },
  concurrency: 20,
  timeoutMillis: 20_000,
  httpErrors: httpErrors(),
  offers: [lookup]
})
