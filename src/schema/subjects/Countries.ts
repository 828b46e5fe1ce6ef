/**
 * Reads the country of a phone number from the fields beside it: a country's name or code, or a calling code.
 */
import { getCountries, type CountryCode } from "libphonenumber-js/min"

/** A country, or only a calling code. */
export type Place = { readonly country: CountryCode } | { readonly callingCode: string }

const others: Readonly<Record<string, CountryCode>> = {
  usa: "US",
  "u.s.": "US",
  "u.s.a.": "US",
  america: "US",
  "united states of america": "US",
  uk: "GB",
  "great britain": "GB",
  england: "GB",
  scotland: "GB",
  wales: "GB",
  "northern ireland": "GB",
  uae: "AE",
  "czech republic": "CZ",
  holland: "NL",
  "the netherlands": "NL",
  korea: "KR",
  "south korea": "KR",
  turkey: "TR",
  deutschland: "DE",
  "hong kong": "HK",
  gbr: "GB",
  deu: "DE",
  fra: "FR",
  esp: "ES",
  ita: "IT",
  can: "CA",
  aus: "AU",
  ind: "IN",
  nld: "NL",
  bra: "BR",
  mex: "MX",
  che: "CH",
  swe: "SE",
  pol: "PL"
}

const english = new Intl.DisplayNames("en", { type: "region", fallback: "none" })
const named: ReadonlyMap<string, CountryCode> = new Map([
  ...getCountries().map((code): [string, CountryCode] => [(english.of(code) ?? code).toLowerCase(), code]),
  ...Object.entries(others)
])

const coded: ReadonlyMap<string, CountryCode> = new Map(getCountries().map((code) => [code, code]))

const longest = 40

/** Reads `DE`, `de`, `Germany` or `DEU`. Null for anything else. */
export const countryCalled = (value: string): Place | null => {
  if (value.length > longest) return null
  const text = value.trim()
  const code = text.length <= 2 ? coded.get(text.toUpperCase()) : undefined
  const country = code ?? named.get(text.toLowerCase())
  return country === undefined ? null : { country }
}

/** Reads `+49`, `49` or 49 from a field of calling codes. */
export const callingCode = (value: string | number): Place | null => {
  const code = /^(?:\+|00)?([1-9]\d{0,2})$/.exec(String(value).trim())?.[1]
  return code === undefined ? null : { callingCode: code }
}
