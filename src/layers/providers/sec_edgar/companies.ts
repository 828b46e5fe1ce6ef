/**
 * How EDGAR names companies: a number (CIK) for everybody who files, and a directory of those whose stock is traded.
 *
 * A name or a ticker is looked up in the directory first; a company that is not in it can only be asked for by its number.
 */
import type { Call, Outcome, Reply } from "../../../schema/catalog/Provider.ts"
import { noMatch } from "../kit/outcome.ts"
import { at, isRecord, text, whole } from "../kit/read.ts"
import { refusal } from "../kit/httpErrors.ts"

export interface CompanyInput {
  readonly cik?: string
  readonly ticker?: string
  readonly name?: string
}

/** Ten digits, as paths and queries want it. */
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

/** Words that say the legal form and not the name. */
const forms = /\b(incorporated|inc|corporation|corp|company|co|limited|ltd|plc|llc|lp|sa|nv|ag|holdings?|group|the)\b/g

const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/\/[a-z]{2,3}\/?$/, "")
    .replace(/[^\p{Letter}\p{Number}&]+/gu, " ")
    .replace(forms, " ")
    .replace(/\s+/g, " ")
    .trim()

const symbol = (ticker: string): string => ticker.trim().toUpperCase().replace(/[./ ]/g, "-")

/** The number of a company in the directory; null when it is not there, undefined when this is no directory. */
export const cikInDirectory = (body: unknown, { ticker, name }: CompanyInput): string | null | undefined => {
  if (!isRecord(body)) return undefined
  const entries = Object.values(body)
  if (entries.length === 0 || whole(entries[0], "cik_str") === null) return undefined
  const found =
    ticker === undefined
      ? named(entries, name ?? "")
      : entries.find((entry) => text(entry, "ticker")?.toUpperCase() === symbol(ticker))
  return whole(found, "cik_str")?.toString() ?? null
}

/** The directory begins with the most valuable companies, so of several the first is meant. */
const named = (entries: ReadonlyArray<unknown>, name: string): unknown => {
  const wanted = plain(name)
  if (wanted === "") return undefined
  const known = entries.map((entry) => [plain(text(entry, "title") ?? ""), entry] as const)
  return (known.find(([title]) => title === wanted) ?? known.find(([title]) => title.startsWith(`${wanted} `)))?.[1]
}

/** A number that nobody has is an object that the register's store does not know; any other 404 is a mistake of ours. */
export const unknownCompany = (reply: Reply): Outcome<never> | undefined => {
  if (reply.status !== 404) return undefined
  return reply.text.includes("NoSuchKey") ? noMatch("no company of this number files here") : refusal(reply)
}

/** Letters are states of the union; other countries have a digit in their code. */
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
