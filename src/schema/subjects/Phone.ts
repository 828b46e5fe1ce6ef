/**
 * Reads phone numbers in E.164 with libphonenumber.
 *
 * Without a country, only international forms are read. A number counts if its length is possible, even if its range is not assigned: ranges
 * change every year, and runs may contain fictional numbers. Extensions are ignored.
 */
import { parsePhoneNumberFromString } from "libphonenumber-js/min"
import type { Place } from "./Countries.ts"
import { plain } from "./Form.ts"

const longest = 60
const prefix = /^tel:(?:\/\/)?/i
/** Digits with separators and an optional extension. A value with other words is a text. */
const form =
  /^(?:\+|＋)?[\d\s().\-‐‑–/·•]+(?:(?:[,;#x]|\s|ext|extension|extn|durchwahl|poste|anexo)[\s.:=,#x]*\d{1,8}|;[\w=.;+-]+)?\s*$/iu
const digitsMin = 7

export interface Hints {
  /** The field's name or the query's kind says that it is a phone number. */
  readonly named: boolean
  readonly place: Place | null
}

const parsed = (text: string, place: Place | null): string | null => {
  const options =
    place === null
      ? undefined
      : "country" in place
        ? { defaultCountry: place.country }
        : { defaultCallingCode: place.callingCode }
  const phone = parsePhoneNumberFromString(text, { ...options, extract: false })
  return phone?.isPossible() ? phone.number : null
}

const isValid = (text: string): boolean => parsePhoneNumberFromString(text, { extract: false })?.isValid() ?? false

/** Reads a number that begins with + and a calling code. */
export const readInternational = (text: string): string | null => parsed(text, null)

/** Reads a value that is a phone number as a whole. Null if it is none. */
export const readPhone = (value: string, { named, place }: Hints): string | null => {
  if (value.length > longest + 8) return null
  const scheme = prefix.exec(value)?.[0]
  const text = plain(scheme === undefined ? value : decodeURIComponentSafely(value.slice(scheme.length))).trim()
  if (text.length > longest || !form.test(text)) return null
  const digits = text.replace(/\D/g, "")
  if (digits.length < digitsMin) return null
  if (text.startsWith("+") || /^\(\s*\+/.test(text)) return parsed(text, null)
  if (/^\(?00[\s)]*[1-9]/.test(text)) {
    const international = `+${text.replace(/^\(?00[\s)]*/, "")}`
    // Digits alone may be an identifier that was padded with zeros.
    if ((named || /\D/.test(text)) && isValid(international)) return parsed(international, null)
  }
  return (named || scheme !== undefined) && place !== null ? parsed(text, place) : null
}

const decodeURIComponentSafely = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
