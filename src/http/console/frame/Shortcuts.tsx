/** All keyboard shortcuts: those of every page, and `g` with a letter for each page that has one. */
import { useGo } from "../data/address.ts"
import { paletteKey, useKeys } from "../data/keys.ts"
import { allPages, type Page } from "../data/page.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { closeOverlay, overlay } from "./openPalette.ts"
import { useStore } from "../data/store.ts"

type Frame = "session" | "operator"

const palette = [paletteKey, "Go to a page, find a run, copy the id of a key"] as const
const general = [
  ["/", "Search or filter this page"],
  ["j  k", "Next and previous row of a list"],
  ["Enter", "Open the row"],
  ["?", "Show these shortcuts"]
] as const

/** Pages of this frame that a letter opens. */
const lettered = (frame: Frame): ReadonlyArray<readonly [keys: string, page: Page]> =>
  allPages().flatMap((page) =>
    page.shortcut !== undefined && (page.access === "operator") === (frame === "operator")
      ? [[`g ${page.shortcut}`, page] as const]
      : []
  )

/** `onSearch` focuses the search of the page. */
export const useShortcuts = (frame: Frame, onSearch: () => void): void => {
  const go = useGo()
  const pages = lettered(frame).map(([keys, { path }]) => [keys, () => go(path)] as const)
  useKeys({ "/": onSearch, "?": () => overlay.set("help"), ...Object.fromEntries(pages) })
}

export const Shortcuts = ({ frame }: { readonly frame: Frame }) => {
  const rows = [
    ...(frame === "session" ? [palette] : []),
    ...general,
    ...lettered(frame).map(([keys, { title }]) => [keys, title] as const)
  ]
  return (
    <Dialog open={useStore(overlay) === "help"} onClose={closeOverlay} title="Keyboard shortcuts">
      <table className="w-full">
        <tbody>
          {rows.map(([keys, words]) => (
            <tr key={keys}>
              <th scope="row" className="py-1 pr-6 text-left font-normal whitespace-nowrap">
                <kbd className="rounded border border-line bg-sunken px-1.5 font-mono text-small">{keys}</kbd>
              </th>
              <td className="py-1">{words}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  )
}
