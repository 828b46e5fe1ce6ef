/**
 * phone.lookup: whether a phone number is valid, and its line type, carrier and country.
 *
 * Every delivered result is charged, also that a number is not valid.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import * as Locale from "./locale.ts"
import { orNull, pick } from "./shapes.ts"

/** E.164 allows 15 digits. A number of fewer than seven is an extension or a short code. */
const digitsMin = 7
const digitsMax = 15

export const phoneLookup = capability({
  slug: "phone.lookup",
  title: "Look up a phone number",
  category: "people",
  description:
    "Checks a phone number and returns whether it is valid, its country, national format, line type (mobile, landline, VoIP), carrier and caller name. To find a person's number, use phone.find.",
  tags: [
    ...["phone", "phone number", "validate", "verification", "carrier", "line type", "mobile", "landline", "voip"],
    ...["caller name", "caller id", "cnam", "e164", "hlr", "format"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: true,
    description: "Charged for every delivered result, including not valid. A failed call costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    phone: Field.text(
      "The number to look up, best in E.164 such as +12025550143; a national number needs country_code",
      40
    ),
    country_code: Schema.optionalKey(Locale.country("Country of a number in national format, two letters such as us"))
  }),
  output: Schema.Struct({
    phone: orNull(Schema.String, "The number in E.164"),
    national_format: orNull(Schema.String, "The number as it is written in its own country"),
    country_code: orNull(Schema.String, "Two letters such as US"),
    valid: orNull(Schema.Boolean, "True if the number can exist: its length and prefix are in use"),
    line_type: orNull(Schema.String, "Such as mobile, landline, fixedVoip, nonFixedVoip or tollFree"),
    carrier: orNull(Schema.String, "The operator that serves the number"),
    caller_name: orNull(Schema.String, "The subscriber's registered name, where it is published")
  }),
  example: { phone: "+12025550143" },
  matched: () => true,
  side_effect: false,
  simulate: ({ input, seed }) => {
    const digits = input.phone.replace(/\D/g, "")
    const valid = digits.length >= digitsMin && digits.length <= digitsMax
    return {
      phone: valid ? `+${digits}` : input.phone,
      national_format: valid ? digits.slice(-10) : null,
      country_code: input.country_code?.toUpperCase() ?? (valid && digits.startsWith("1") ? "US" : null),
      valid,
      line_type: valid ? pick(seed, ["mobile", "mobile", "landline", "nonFixedVoip"]) : null,
      carrier: valid ? "Simulated Telecom" : null,
      caller_name: null
    }
  },
  missHints: (input) => [
    ...(input.phone.startsWith("+") || input.country_code !== undefined
      ? []
      : ["Write the number with + and its country's prefix, or give country_code."]),
    "Leave out the extension: it is not part of the number."
  ]
})
