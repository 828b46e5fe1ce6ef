/** All keyboard shortcuts. */
import { allPages } from "../data/page.ts"

const general: ReadonlyArray<readonly [string, string]> = [
  ["Ctrl K", "Go to a page, find a run, copy the id of a key"],
  ["/", "Search or filter this page"],
  ["j  k", "Next and previous row of a list"],
  ["Enter", "Open the row"],
  ["?", "Show these shortcuts"]
]

const rows = () => [
  ...general,
  ...allPages().flatMap(({ shortcut, title }) => (shortcut === undefined ? [] : [[`g ${shortcut}`, title] as const]))
]

export const Shortcuts = () => (
  <table className="w-full">
    <tbody>
      {rows().map(([keys, words]) => (
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
