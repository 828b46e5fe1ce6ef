/** Runs and spending of the last 30 days. */
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import type { AnswerOf } from "../../../client/Browser.ts"
import { api } from "../../data/api.ts"
import { present } from "../../data/clock.ts"
import { axisDollars, exactDollars, heightOf, sumOf } from "../../data/money.ts"
import { utcDay } from "../../data/time.ts"
import { Chart, Legend, type Line } from "../../parts/Chart.tsx"
import { Empty, Loaded, Panel, Skeleton } from "../../parts/Page.tsx"

type Item = AnswerOf<"usage", "get">["items"][number]

const countAxis = (value: number) => (Number.isInteger(value) ? String(value) : "")

const ends = [
  ["succeeded", "Succeeded", "--green"],
  ["no_match", "No match", "--grey"],
  ["failed", "Failed", "--red"]
] as const

const daysShown = 30

const lastDays = (): ReadonlyArray<string> => {
  const now = present()
  return Array.from({ length: daysShown }, (_, index) => utcDay(now, daysShown - 1 - index))
}

const useDailyUsage = () => {
  const days = useMemo(lastDays, [])
  const from = days[0] ?? ""
  const usage = useQuery({
    queryKey: ["usage", "days", from],
    queryFn: () => api.usage.get({ query: { group_by: "day", from, limit: 200 } }),
    staleTime: 60_000
  })
  return { days, usage }
}

const Charts = ({ days, items }: { readonly days: ReadonlyArray<string>; readonly items: ReadonlyArray<Item> }) => {
  const { spending, runs } = useMemo(() => {
    const byDay = new Map(items.map((item) => [item.day, item]))
    const bars = days.map((day) => byDay.get(day))
    const charged = (index: number) => exactDollars(bars[index]?.charged ?? "0")
    const spending: ReadonlyArray<Line> = [
      {
        name: "Charged",
        token: "--accent",
        values: bars.map((one) => heightOf(one?.charged ?? "0")),
        words: charged,
        bars: true
      }
    ]
    const runs = ends.map(
      ([end, name, token]): Line => ({
        name,
        token,
        values: bars.map((one) => one?.[end] ?? 0),
        words: (index) => `${bars[index]?.[end] ?? 0} ${name.toLowerCase()}`
      })
    )
    return { spending, runs }
  }, [days, items])
  const total = sumOf(items.map(({ charged }) => charged))
  const count = items.reduce((sum, one) => sum + one.runs, 0)
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <Panel title="Spending of 30 days" actions={<span className="text-muted">{exactDollars(total)}</span>}>
        <Chart label="Spending by day" days={days} lines={spending} axis={axisDollars} />
      </Panel>
      <Panel
        title="Finished runs of 30 days"
        actions={<span className="text-muted">{count.toLocaleString("en")}</span>}
      >
        <Legend lines={runs} />
        <Chart label="Finished runs by day" days={days} lines={runs} axis={countAxis} />
      </Panel>
    </div>
  )
}

const UsageChart = () => {
  const { days, usage } = useDailyUsage()
  return (
    <Loaded query={usage} skeleton={<Skeleton lines={6} height={24} />}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Spending and runs by day will be here.">
            <p className="text-muted">Days are counted in UTC, and include runs that have ended.</p>
          </Empty>
        ) : (
          <Charts days={days} items={items} />
        )
      }
    </Loaded>
  )
}

export default UsageChart
