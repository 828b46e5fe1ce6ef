/** What both frames share: keyboard shortcuts, what they open, and how the pages are reached with keys. */
import { lazy, type RefObject, Suspense, useEffect, useRef } from "react"
import { useGo } from "../data/address.ts"
import { paletteKey, useKeys } from "../data/keys.ts"
import { allPages, type Page } from "../data/page.ts"
import { useStore } from "../data/store.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { closeOverlay, type FrameKind, openPalette, overlay } from "./openPalette.ts"

const Palette = lazy(() => import("./Palette.tsx"))

const general: ReadonlyArray<readonly [keys: string, words: string]> = [
  [paletteKey, "Go to a page, or search"],
  ["/", "Search or filter this page"],
  ["j  k", "Next and previous row of a list"],
  ["Enter", "Open the row"],
  ["?", "Show these shortcuts"]
]
const lettered = (frame: FrameKind): ReadonlyArray<readonly [keys: string, page: Page]> =>
  allPages().flatMap((page) =>
    page.shortcut !== undefined && (page.access === "operator") === (frame === "operator")
      ? [[`g ${page.shortcut}`, page] as const]
      : []
  )

/** The key of the palette also works while somebody types. */
const usePaletteKey = () =>
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      openPalette()
    }
    document.addEventListener("keydown", pressed)
    return () => document.removeEventListener("keydown", pressed)
  }, [])

/** A page without a search of its own has the palette's. */
const focusSearch = () => {
  const search = document.querySelector<HTMLInputElement>("[data-search]")
  if (search === null) openPalette()
  else search.focus()
}

export const useShortcuts = (frame: FrameKind): void => {
  const go = useGo()
  const pages = lettered(frame).map(([keys, { path }]) => [keys, () => go(path)] as const)
  useKeys({ "/": focusSearch, "?": () => overlay.set("help"), ...Object.fromEntries(pages) })
  usePaletteKey()
}

const All = ({ frame }: { readonly frame: FrameKind }) => (
  <table className="w-full">
    <tbody>
      {[...general, ...lettered(frame).map(([keys, { title }]) => [keys, title] as const)].map(([keys, words]) => (
        <tr key={keys}>
          <th scope="row" className="py-1 pr-6 text-left font-normal whitespace-nowrap">
            <kbd className="rounded border border-line bg-sunken px-1.5 font-mono text-small">{keys}</kbd>
          </th>
          <td className="py-1">{words}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

export const Overlays = ({ frame }: { readonly frame: FrameKind }) => {
  const shown = useStore(overlay)
  return (
    <>
      <Dialog open={shown === "palette"} onClose={closeOverlay} title="Go to" hideTitle wide>
        <Suspense fallback={null}>
          <Palette frame={frame} />
        </Suspense>
      </Dialog>
      <Dialog open={shown === "help"} onClose={closeOverlay} title="Keyboard shortcuts">
        <All frame={frame} />
      </Dialog>
    </>
  )
}

/** The first link of a frame, for keyboards: over the pages and menus to the page itself. */
export const SkipLink = () => (
  <a
    href="#content"
    className="absolute top-2 left-2 z-50 -translate-y-20 rounded bg-accent px-3 py-1.5 text-on-accent focus:translate-y-0"
  >
    Skip to the page
  </a>
)

/** Scrolls the entry of the current page into sight, in a list of pages that scrolls sideways on narrow screens. */
export const useCurrentInSight = (pathname: string): RefObject<HTMLElement | null> => {
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    const show = () =>
      list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" })
    show()
    window.addEventListener("resize", show)
    return () => window.removeEventListener("resize", show)
  }, [pathname])
  return list
}

/** Whether an address is that of a page or of one below it. The first page of a frame has none below. */
export const isCurrent = (address: string, page: string): boolean =>
  address === page || (page !== "/" && page !== "/operator" && address.startsWith(`${page}/`))
