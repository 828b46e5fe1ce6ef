/** What a page is, and the list of all pages for whatever lists them: rail, palette, shortcuts. */
import type { LucideIcon } from "lucide-react"
import type { ComponentType } from "react"

export interface Page {
  /** `$name` is one segment, which `useParam("name")` reads. A last `$` takes the rest, slashes included. */
  readonly path: string
  /** In the rail, the palette and the browser's tab. */
  readonly title: string
  /**
   * "public": for people without a session, and outside the frame. "both": signed out it stands alone, signed in it is in the frame.
   * "operator": for the operator's session, in a frame of its own.
   */
  readonly access?: "session" | "public" | "both" | "operator"
  /** Where the page is listed. A page of a single object is in no list. */
  readonly place?: "rail" | "settings" | "palette" | "operator"
  readonly icon?: LucideIcon | undefined
  /** Second key after `g`, such as `a` for `g a`. */
  readonly shortcut?: string | undefined
  readonly load: () => Promise<{ readonly default: ComponentType }>
}

let list: ReadonlyArray<Page> = []

/** The router calls it once, before anything is shown. The list itself (pages.ts) imports every page, so nothing below may import it. */
export const registerPages = (pages: ReadonlyArray<Page>): void => {
  list = pages
}
export const allPages = (): ReadonlyArray<Page> => list
export const pagesAt = (place: NonNullable<Page["place"]>): ReadonlyArray<Page> =>
  list.filter((page) => page.place === place)
