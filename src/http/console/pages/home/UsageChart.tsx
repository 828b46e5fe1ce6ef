/** Runs and spending of the last 30 days. */
import { useMemo } from "react"
import type { AnswerOf } from "../../../client/Browser.ts"
import { axisDollars, exactDollars, heightOf, sumOf } from "../../data/money.ts"
import { Chart, type Line } from "../../parts/Chart.tsx"
import { Panel } from "../../parts/Page.tsx"
import { Empty, Loaded, Skeleton } from "../../parts/States.tsx"
import { useDailyUsage } from "./useDailyUsage.ts"

type Item = AnswerOf<"usage", "get">["items"][number]

const countAxis = (value: number) => (Number.isInteger(value) ? String(value) : "")

const Charts = ({ days, items }: { readonly days: ReadonlyArray<string>; readonly items: ReadonlyArray<Item> }) => {
  const { spending, runs } = useMemo(() => {
    const byDay = new Map(items.map((item) => [item.day, item]))
    const found = days.map((day) => byDay.get(day))
    const charged = (index: number) => exactDollars(found[index]?.charged ?? "0")
    const counted = (what: "succeeded" | "no_match" | "failed", word: string) => (index: number) =>
      `${found[index]?.[what] ?? 0} ${word}`
    const spending: ReadonlyArray<Line> = [
      {
        name: "Charged",
        token: "--accent",
        values: found.map((one) => heightOf(one?.charged ?? "0")),
        words: charged,
        bars: true
      }
    ]
    const runs: ReadonlyArray<Line> = [
      {
        name: "Succeeded",
        token: "--green",
        values: found.map((one) => one?.succeeded ?? 0),
        words: counted("succeeded", "succeeded")
      },
      {
        name: "No match",
        token: "--grey",
        values: found.map((one) => one?.no_match ?? 0),
        words: counted("no_match", "no match")
      },
      {
        name: "Failed",
        token: "--red",
        values: found.map((one) => one?.failed ?? 0),
        words: counted("failed", "failed")
      }
    ]
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
        <ul className="mb-1 flex flex-wrap gap-4 text-small">
          {runs.map(({ name, token }) => (
            <li key={name} className="flex items-center gap-1.5">
              <span aria-hidden="true" className="h-0.5 w-3" style={{ background: `var(${token})` }} />
              {name}
            </li>
          ))}
        </ul>
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
