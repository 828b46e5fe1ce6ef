/**
 * Pages of a provider, cut to the caller's limit without losing what is cut off.
 *
 * A provider's page may hold more than was asked for. The cursor then names the same page and how much of it is known, so
 * the next call reads it again from there.
 */
import { issue, redeem } from "./cursor.ts"

export interface PlaceInPages {
  /** The provider's own token of the page; undefined for the first. */
  readonly token: string | undefined
  /** Items of it that were delivered before. */
  readonly known: number
}

export const placeInPages = (provider: string, cursor: string | undefined): PlaceInPages => {
  const [, known = "0", token = ""] = /^(\d{1,5})\.(.*)$/s.exec(redeem(provider, cursor) ?? "") ?? []
  return { token: token === "" ? undefined : token, known: Number(known) }
}

/** `next` is the provider's token of the page that follows. */
export const cutPage = <A>(
  provider: string,
  place: PlaceInPages,
  items: ReadonlyArray<A>,
  limit: number,
  next: string | null
): { readonly items: ReadonlyArray<A>; readonly next_cursor: string | null } => {
  const end = place.known + limit
  const following = next === null ? null : `0.${next}`
  return {
    items: items.slice(place.known, end),
    next_cursor: issue(provider, items.length > end ? `${end}.${place.token ?? ""}` : following)
  }
}
