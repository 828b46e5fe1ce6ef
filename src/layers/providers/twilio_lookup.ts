/**
 * Adapter for Twilio Lookup: whether a phone number is valid, its type of line, and its carrier.
 *
 * Formatting and validation are free at Twilio, and the line type is not. Twilio reports no cost. For an invalid number it answers 200
 * with `valid: false`, which is a result and not an error.
 */
import { phoneLookup } from "../../schema/capabilities/phone.lookup.ts"
import { inUsd } from "../../schema/money/Rates.ts"
import { offer, provider } from "../../schema/catalog/Provider.ts"
import { httpErrors, match, unreadable } from "./kit/outcome.ts"
import { flag, segmentOf, text } from "./kit/read.ts"

/** Converts "+1 (202) 555-0143" to "+12025550143". Letters stay, because Twilio decides whether they are valid. */
const compact = (phone: string): string => phone.replace(/[\s().\-/]/g, "")

const lookup = offer(phoneLookup, {
  price: inUsd.flat("0.008"),
  note: "List price of a line type, $0.008. Twilio reports no cost that confirms it. The caller's name would cost more and is not requested.",
  wraps: ["GET /v2/PhoneNumbers/{PhoneNumber}"],
  // Without a country code, Twilio would treat every number as American.
  serves: (input) =>
    /\d/.test(input.phone) && (compact(input.phone).startsWith("+") || input.country_code !== undefined),
  request: (input) => ({
    method: "GET",
    path: `/v2/PhoneNumbers/${segmentOf(compact(input.phone))}`,
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
