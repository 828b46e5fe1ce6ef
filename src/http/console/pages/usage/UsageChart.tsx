/** Charges by day: one line for each of the dearest values of the first group, and one for all other values together. */
import { useMemo } from "react"
import { api, useRead } from "../../data/api.ts"
import { axisDollars, isLess } from "../../data/money.ts"
import { useZone } from "../../frame/Balance.tsx"
import { allRows } from "../../lists/PagedList.tsx"
import { Chart, Legend, type Line } from "../../parts/Chart.tsx"
import { LoadedPanel, Skeleton } from "../../parts/Page.tsx"
import {
  chargedIn,
  type Days,
  daysOf,
  type Grouping,
  type Item,
  lineOf,
  useGrouped,
  valueOf,
  valueWords,
  wordOf
} from "./groupings.ts"

/** Groups by day are many; a chart of more than this is asked for a shorter time. */
const groupsMax = 2_000
/** More lines can't be told apart. */
const tokens = ["--color-accent", "--color-green", "--color-amber", "--color-violet"]
const tokenOfOthers = "--color-grey"

const readAll = (group_by: string, period: Days) =>
  allRows<Item>((from) => api.usage.get({ query: { ...period, group_by, ...from } }), groupsMax)

const linesOf = (
  items: ReadonlyArray<Item>,
  grouping: Grouping | null,
  days: ReadonlyArray<string>,
  names: ReadonlyMap<string, string>
): ReadonlyArray<Line> => {
  if (grouping === null) return [lineOf("Charged", "--color-accent", items, days, true)]
  const groups = [...Map.groupBy(items, (item) => valueOf(item, grouping) ?? `\n${item.others ?? ""}`).values()]
  const dearest = groups.toSorted((a, b) => (isLess(chargedIn(a), chargedIn(b)) ? 1 : -1))
  const own = dearest.slice(0, tokens.length)
  const rest = dearest.slice(tokens.length).flat()
  const lines = own.flatMap((group, index) => {
    const [first] = group
    return first === undefined
      ? []
      : [lineOf(valueWords(first, grouping, names), tokens[index] ?? "", group, days, false)]
  })
  return rest.length === 0 ? lines : [...lines, lineOf("All others", tokenOfOthers, rest, days, false)]
}

const UsageChart = () => {
  const { groupings, period, names } = useGrouped()
  const grouping = groupings.find((one) => one !== "day") ?? null
  const group_by = grouping === null ? "day" : `day,${grouping}`
  const zone = useZone()
  const days = useMemo(() => daysOf(period, zone), [period, zone])
  const usage = useRead(["usage", "chart", group_by, period], () => readAll(group_by, period), { staleTime: 60_000 })
  const lines = useMemo(
    () => linesOf(usage.data?.items ?? [], grouping, days, names),
    [usage.data, grouping, days, names]
  )
  if (days.length === 0) return null
  const title = grouping === null ? "Charged by day" : `Charged by day and ${wordOf(grouping).toLowerCase()}`
  return (
    <LoadedPanel title={title} query={usage} skeleton={<Skeleton lines={6} height={24} />}>
      {({ isAll }) =>
        isAll ? (
          <>
            {grouping !== null && <Legend lines={lines} />}
            <Chart label={title} days={days} lines={lines} axis={axisDollars} />
          </>
        ) : (
          <p className="text-muted">
            This time has too many groups by day for a chart. Choose a shorter time. The table below has all groups.
          </p>
        )
      }
    </LoadedPanel>
  )
}

export default UsageChart
