/**
 * What Apollo's questions and answers have in common: a company that is looked up, bands and pages.
 *
 * Searches are paged by number and size, so a window of results is asked for as the smallest page that holds all of it.
 */
import type { Call, Failure, Outcome, Reply } from "../../../schema/catalog/Provider.ts"
import { accepts, issue, redeem } from "../kit/cursor.ts"
import { noMatch } from "../kit/outcome.ts"
import { at, isRecord, text } from "../kit/read.ts"
import { unreadable } from "../kit/httpErrors.ts"

export const note = "Published credits per operation at $0.025 each, the rate that the provider's fair-use terms imply."

interface Sought {
  readonly domain?: string | undefined
  readonly name?: string | undefined
  readonly network_url?: string | undefined
}

/** By the most exact of what is known. */
export const companyCall = ({ domain, name, network_url }: Sought): Call => ({
  method: "GET",
  path: "/organizations/enrich",
  query: {
    domain,
    linkedin_url: domain === undefined ? network_url : undefined,
    name: domain === undefined && network_url === undefined ? name : undefined
  }
})

/**
 * The company of a look-up. Nobody tells how a miss looks: a null is one, and so is an answer without the field, but the
 * latter only where a miss is not charged.
 */
export const organizationOf = (reply: Reply, charged: boolean): unknown => {
  const found = at(reply.body, "organization")
  if (isRecord(found)) return found
  return found === null || (found === undefined && isRecord(reply.body) && !charged) ? null : undefined
}

/** The second of two steps goes on from the company's id. */
export const lookedUp = (reply: Reply, charged: boolean): Outcome<never> => {
  const found = organizationOf(reply, charged)
  if (found === null) return noMatch("the company is not known")
  const organization_id = text(found, "id")
  if (organization_id === null) return unreadable("organization")
  const state = { organization_id, name: text(found, "name"), domain: text(found, "primary_domain") }
  // Nothing was started at the provider: whoever goes on without the state only looks the company up again.
  return { _tag: "Again", state, afterMillis: 0, job: false }
}

export const badState = (): Failure => unreadable("state")

/** "51,200" of "51-200"; an open band ends at more employees than any company has. */
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
/** The provider shows no more results of a search than these. */
const resultsMax = 50_000
const offsetOf = (input: Paged): number => Number(redeem("apollo", input.cursor) ?? "0")

export const servesPage = (input: Paged): boolean =>
  accepts("apollo", input.cursor) &&
  /^\d{1,5}$/.test(redeem("apollo", input.cursor) ?? "0") &&
  offsetOf(input) < resultsMax

/** The smallest page that holds the whole window; a window that no page holds is cut at a page's end. */
export const pageOf = (input: Paged, defaultLimit: number) => {
  const offset = offsetOf(input)
  const limit = input.limit ?? defaultLimit
  let size = limit
  while (size < pageSizeMax && Math.floor(offset / size) !== Math.floor((offset + limit - 1) / size)) size++
  const skipped = offset % size
  const end = offset + Math.min(limit, size - skipped)
  return {
    query: { page: Math.floor(offset / size) + 1, per_page: size },
    cut: <A>(items: ReadonlyArray<A>): ReadonlyArray<A> => items.slice(skipped, skipped + limit),
    next_cursor: (total: number | null): string | null =>
      issue("apollo", total !== null && end < Math.min(total, resultsMax) ? String(end) : null)
  }
}
