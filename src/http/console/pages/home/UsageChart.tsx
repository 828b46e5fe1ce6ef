/** Runs and spending by day, from the first day that has any. */
import { useMemo } from "react"
import { api, useRead } from "../../data/api.ts"
import { axisDollars } from "../../data/money.ts"
import { useZone } from "../../frame/Balance.tsx"
import { counted } from "../../../client/Words.ts"
import { Chart, Legend, type Line } from "../../parts/Chart.tsx"
import { Empty, Loaded, Panel, Skeleton } from "../../parts/Page.tsx"
import { Cents } from "../../parts/Values.tsx"
import { chargedIn, daysOf, type Item, lineOf } from "../usage/groupings.ts"

const countAxis = (value: number) => (Number.isInteger(value) ? String(value) : "")

const ends = [
  ["succeeded", "Succeeded", "--color-green"],
  ["no_match", "No match", "--color-grey"],
  ["failed", "Failed", "--color-red"]
] as const

/** Fewer days would make bars without a past. */
const daysMin = 7

const sinceFirst = (days: ReadonlyArray<string>, items: ReadonlyArray<Item>) => {
  const first = days.findIndex((day) => items.some((item) => item.day === day))
  return days.slice(Math.min(Math.max(first, 0), days.length - daysMin))
}

const Charts = ({
  days: all,
  items
}: {
  readonly days: ReadonlyArray<string>
  readonly items: ReadonlyArray<Item>
}) => {
  const { days, spending, runs } = useMemo(() => {
    const days = sinceFirst(all, items)
    const byDay = new Map(items.map((item) => [item.day, item]))
    const bars = days.map((day) => byDay.get(day))
    const spending = [lineOf("Charged", "--color-accent", items, days, true)]
    // Each bar stands on the ones below it, and is painted before them.
    const runs = ends
      .map(
        ([end, name, token], place): Line => ({
          name,
          token,
          values: bars.map((one) => ends.slice(0, place + 1).reduce((sum, [below]) => sum + (one?.[below] ?? 0), 0)),
          words: (index) => `${bars[index]?.[end] ?? 0} ${name.toLowerCase()}`,
          bars: true
        })
      )
      .toReversed()
    return { days, spending, runs }
  }, [all, items])
  const count = items.reduce((sum, one) => sum + one.runs, 0)
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <Panel title={`Spending of ${days.length} days`} actions={<Cents amount={chargedIn(items)} />}>
        <Legend lines={spending} />
        <Chart label="Spending by day" days={days} lines={spending} axis={axisDollars} />
      </Panel>
      <Panel title={`Finished runs of ${days.length} days`} actions={counted(count, "run")}>
        <Legend lines={runs} />
        <Chart label="Finished runs by day" days={days} lines={runs} axis={countAxis} />
      </Panel>
    </div>
  )
}

const UsageChart = () => {
  const zone = useZone()
  const days = useMemo(() => daysOf({}, zone), [zone])
  const query = { group_by: "day", from: days[0] ?? "", limit: 200 }
  const usage = useRead(["usage", "days", query.from], () => api.usage.get({ query }), { staleTime: 60_000 })
  return (
    <Loaded query={usage} skeleton={<Skeleton lines={6} height={24} />}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Spending and runs by day will be here.">
            <p className="text-muted">Days are counted in {zone}, and include runs that have ended.</p>
          </Empty>
        ) : (
          <Charts days={days} items={items} />
        )
      }
    </Loaded>
  )
}

export default UsageChart
