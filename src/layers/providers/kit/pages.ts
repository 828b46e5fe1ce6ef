/**
 * Cuts a provider's page to the caller's limit without losing the rest of the page.
 *
 * If a page has more items than requested, the cursor names the same page and how many of its items were delivered. The next
 * call reads the page again and continues there.
 */
import { issue, redeem } from "./cursor.ts"

export interface PlaceInPages {
  /** The provider's own token of the page. Undefined for the first page. */
  readonly token: string | undefined
  /** Items of the page that were delivered before. */
  readonly delivered: number
}

export const placeInPages = (provider: string, cursor: string | undefined): PlaceInPages => {
  const [, delivered = "0", token = ""] = /^(\d{1,5})\.(.*)$/s.exec(redeem(provider, cursor) ?? "") ?? []
  return { token: token === "" ? undefined : token, delivered: Number(delivered) }
}

/** `next` is the provider's token of the next page. */
export const cutPage = <A>(
  provider: string,
  place: PlaceInPages,
  items: ReadonlyArray<A>,
  limit: number,
  next: string | null
): { readonly items: ReadonlyArray<A>; readonly next_cursor: string | null } => {
  const end = place.delivered + limit
  const following = next === null ? null : `0.${next}`
  return {
    items: items.slice(place.delivered, end),
    next_cursor: issue(provider, items.length > end ? `${end}.${place.token ?? ""}` : following)
  }
}
