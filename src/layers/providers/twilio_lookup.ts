/**
 * Twilio Lookup: whether a phone number can exist, and what kind of line and carrier it has.
 *
 * Formatting and validation are free there, the line type is not. Its offer waits for its adapter.
 */
import { phoneLookup } from "../../schema/capabilities/phone.lookup.ts"
import { flat } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

const lookup = listed(phoneLookup, {
  // $0.008 × 1.2
  price: flat("0.0096"),
  note: "List price of a line type, $0.008, not confirmed by an answer; the caller's name would cost more and is not asked for.",
  wraps: [{ method: "GET", path: "/v2/PhoneNumbers/{PhoneNumber}" }]
})

export const twilioLookup = provider({
  slug: "twilio_lookup",
  title: "Twilio Lookup",
  homepage: "https://www.twilio.com/en-us/trusted-activation/lookup",
  base_url: "https://lookups.twilio.com",
  auth: { kind: "basic" },
  concurrency: 20,
  timeoutMillis: 20_000,
  offers: [lookup]
})
