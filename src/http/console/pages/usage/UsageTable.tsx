/** Usage in groups as a table, with the sum of what is shown. */
import { exactDollars } from "../../data/money.ts"
import { counted } from "../../../client/Words.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { type Paged, PagedTable } from "../../lists/PagedList.tsx"
import { Panel, RowLink } from "../../parts/Page.tsx"
import type { Column } from "../../parts/Table.tsx"
import {
  activityOf,
  chargedIn,
  type Days,
  type Grouping,
  type Item,
  useGrouped,
  valueOf,
  valueWords,
  wordOf
} from "./groupings.ts"

/** The groups of an item, the first of which leads to its runs, and its counts. */
export const usageColumns = (
  groupings: ReadonlyArray<Grouping>,
  period: Days,
  names: ReadonlyMap<string, string>
): ReadonlyArray<Column<Item>> => [
  ...groupings.map((grouping, index) => ({
    title: wordOf(grouping),
    cell: (item: Item) => {
      const value = valueOf(item, grouping)
      const words = valueWords(item, grouping, names)
      const to = index === 0 ? activityOf(item, groupings, period) : null
      return to === null ? (
        <span className={`break-words ${value === null ? "text-muted" : ""}`}>{words}</span>
      ) : (
        <RowLink to={to} className="break-words" title="Show these runs">
          {words}
        </RowLink>
      )
    }
  })),
  ...columnsOf("UsageItem")
]

const totalWords = (items: ReadonlyArray<Item>, hasMore: boolean) => {
  const runs = items.reduce((sum, one) => sum + one.runs, 0)
  const words = `${counted(runs, "run")}, ${exactDollars(chargedIn(items))}`
  return hasMore ? `${words} in the groups that are shown. There are more groups.` : `${words} in total.`
}

export const UsageTable = ({ paged }: { readonly paged: Paged<Item> }) => {
  const { groupings, period, names } = useGrouped()
  return (
    <Panel title={groupings.length === 0 ? "Total" : "Groups"}>
      <PagedTable paged={paged} label="Usage" columns={usageColumns(groupings, period, names)} />
      <p className="mt-3 text-muted">{totalWords(paged.items ?? [], paged.hasMore)}</p>
    </Panel>
  )
}
