/**
 * Shared parts of the Apollo adapter: company look-ups, employee ranges and pages.
 *
 * Apollo pages by page number and page size. A cursor of ours is an offset, so a request gets the smallest page that contains all
 * requested results.
 */
import type { CallParts, Failure, Outcome, Reply } from "../../../schema/catalog/Provider.ts"
import { accepts, issue, redeem } from "../kit/cursor.ts"
import { noMatch, pageFrom, unreadable } from "../kit/outcome.ts"
import { at, isRecord, list, text } from "../kit/read.ts"

export const note =
  "Published credits per operation at $0.026 each, as in the Basic plan ($65 a seat for 2,500 credits a month)."

interface CompanyKeys {
  readonly domain?: string | undefined
  readonly name?: string | undefined
  readonly network_url?: string | undefined
}

/** Looks a company up by domain, else by network page, else by name: the most exact key counts. */
export const companyCall = ({ domain, name, network_url }: CompanyKeys): CallParts => ({
  query: {
    domain,
    linkedin_url: domain === undefined ? network_url : undefined,
    name: domain === undefined && network_url === undefined ? name : undefined
  }
})

/**
 * The company in an answer. Null is a miss, undefined an unreadable answer. Apollo does not document how a miss looks. So a null counts
 * as a miss, and a missing field counts as one only if the look-up is not charged.
 */
export const organizationOf = (reply: Reply, charged: boolean): unknown => {
  const organization = at(reply.body, "organization")
  if (isRecord(organization)) return organization
  return organization === null || (organization === undefined && isRecord(reply.body) && !charged) ? null : undefined
}

/** Reads the company look-up, the first of two steps. The second step uses the company's id. */
export const lookedUp = (reply: Reply, charged: boolean): Outcome<never> => {
  const organization = organizationOf(reply, charged)
  if (organization === null) return noMatch("no company found")
  const organization_id = text(organization, "id")
  if (organization_id === null) return unreadable("organization")
  const state = { organization_id, name: text(organization, "name"), domain: text(organization, "primary_domain") }
  // `job: false`, because nothing was started at the provider: a restarted worker just repeats the look-up.
  return { _tag: "Again", state, afterMillis: 0, job: false }
}

export const badState = (): Failure => unreadable("state")

/** Apollo's form of an employee range: "51-200" becomes "51,200". An open range such as "10001+" ends at `countMax`. */
const countMax = 10_000_000
export const band = (range: string): string | null => {
  const [, least, , most] = /^(\d{1,7})(\+|-(\d{1,7}))$/.exec(range.trim()) ?? []
  return least === undefined ? null : `${least},${most ?? countMax}`
}

interface Paged {
  readonly limit?: number
  readonly cursor?: string
}

const pageSizeMax = 100
/** Apollo shows at most this many results of a search. */
const resultsMax = 50_000
const offsetOf = (input: Paged): number => Number(redeem("apollo", input.cursor) ?? "0")

export const servesPage = (input: Paged): boolean =>
  accepts("apollo", input.cursor) &&
  /^\d{1,5}$/.test(redeem("apollo", input.cursor) ?? "0") &&
  offsetOf(input) < resultsMax

interface Read<A> {
  readonly none: string
  readonly total: number | null
  readonly item: (value: unknown) => A
}

/** The smallest page that contains all requested results. If no page does, the results end at the end of a page. */
export const pageOf = (input: Paged, defaultLimit: number) => {
  const offset = offsetOf(input)
  const limit = input.limit ?? defaultLimit
  let size = limit
  while (size < pageSizeMax && Math.floor(offset / size) !== Math.floor((offset + limit - 1) / size)) size++
  const skipped = offset % size
  const end = offset + Math.min(limit, size - skipped)
  return {
    query: { page: Math.floor(offset / size) + 1, per_page: size },
    read: <A>({ body }: Reply, field: string, page: Read<A>) =>
      pageFrom(body, field, {
        ...page,
        values: list(body, field)?.slice(skipped) ?? null,
        limit,
        next_cursor: issue("apollo", page.total !== null && end < Math.min(page.total, resultsMax) ? String(end) : null)
      })
  }
}
