/**
 * Finds companies in EDGAR. Every company that files has a number (CIK), and a directory lists those whose stock is traded.
 *
 * A name or a ticker is looked up in the directory first. A company that is not in the directory can only be found by its number.
 */
import type { Call, Outcome, Reply } from "../../../schema/catalog/Provider.ts"
import { noMatch, refusal } from "../kit/outcome.ts"
import { at, isRecord, text, whole } from "../kit/read.ts"

export interface CompanyInput {
  readonly cik?: string
  readonly ticker?: string
  readonly name?: string
}

/** The number with ten digits, as paths and queries require it. */
export const paddedCik = (cik: string): string => cik.padStart(10, "0")

export const directoryCall: Call = {
  method: "GET",
  origin: "https://www.sec.gov",
  path: "/files/company_tickers.json"
}

export const submissionsCall = (cik: string): Call => ({
  method: "GET",
  path: `/submissions/CIK${paddedCik(cik)}.json`
})

/** Words for the legal form, which are not part of the name. */
const forms = /\b(incorporated|inc|corporation|corp|company|co|limited|ltd|plc|llc|lp|sa|nv|ag|holdings?|group|the)\b/g

const normalized = (name: string): string =>
  name
    .toLowerCase()
    .replace(/\/[a-z]{2,3}\/?$/, "")
    .replace(/[^\p{Letter}\p{Number}&]+/gu, " ")
    .replace(forms, " ")
    .replace(/\s+/g, " ")
    .trim()

const symbol = (ticker: string): string => ticker.trim().toUpperCase().replace(/[./ ]/g, "-")

/** A company's number by the directory. Null if the company is not in it, undefined if `body` is not the directory. */
export const cikInDirectory = (body: unknown, { ticker, name }: CompanyInput): string | null | undefined => {
  if (!isRecord(body)) return undefined
  const entries = Object.values(body)
  if (entries.length === 0 || whole(entries[0], "cik_str") === null) return undefined
  const entry =
    ticker === undefined
      ? findByName(entries, name ?? "")
      : entries.find((entry) => text(entry, "ticker")?.toUpperCase() === symbol(ticker))
  return whole(entry, "cik_str")?.toString() ?? null
}

/** Finds a company by name. The directory is sorted by market value, so the first match is the most likely one. */
const findByName = (entries: ReadonlyArray<unknown>, name: string): unknown => {
  const wantedName = normalized(name)
  if (wantedName === "") return undefined
  const titled = entries.map((entry) => [normalized(text(entry, "title") ?? ""), entry] as const)
  return (titled.find(([title]) => title === wantedName) ??
    titled.find(([title]) => title.startsWith(`${wantedName} `)))?.[1]
}

/** Reads a 404: a miss if EDGAR's file store reports NoSuchKey, because no company has the number. Any other 404 is a wrong path. */
export const unknownCompany = (reply: Reply): Outcome<never> | undefined => {
  if (reply.status !== 404) return undefined
  return reply.text.includes("NoSuchKey") ? noMatch("no company with this number files with the SEC") : refusal(reply)
}

/** Codes of two letters are US states. Codes of other countries contain a digit. */
const inUnitedStates = (code: string | null): boolean => code !== null && /^[A-Z]{2}$/.test(code)

export const seat = (body: unknown) => {
  const business = at(body, "addresses", "business")
  const code = text(business, "stateOrCountry")
  const described = text(business, "stateOrCountryDescription")
  const home = inUnitedStates(code)
  return {
    street: [text(business, "street1"), text(business, "street2")].filter((line) => line !== null).join(", ") || null,
    city: text(business, "city"),
    region: home ? code : null,
    zip: text(business, "zipCode"),
    country: home ? "United States" : described
  }
}
