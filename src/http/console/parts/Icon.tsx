/** The icon of a page. It stands beside a word, or beside a label for screen readers, so screen readers skip it. */
import type { Page } from "../data/page.ts"

export const Icon = ({ of: Shape, size = 16 }: { readonly of: Page["icon"]; readonly size?: number }) =>
  Shape === undefined ? null : <Shape size={size} strokeWidth={1.75} aria-hidden="true" className="shrink-0" />
