/** A chart of days with few lines, its scale from zero, and a table of the same numbers for keyboards and screen readers. */
import { useEffect, useRef } from "react"
import UPlot from "uplot"
import { useStore } from "../data/store.ts"
import { themeShown } from "../look/themes.ts"
import { type Column, DataTable } from "./Table.tsx"

export interface Line {
  readonly name: string
  /** The name of a token, such as `--color-accent`. */
  readonly token: string
  readonly values: ReadonlyArray<number>
  /** The value in words, for the table and the cursor. */
  readonly words: (index: number) => string
  readonly bars?: boolean
}

/** A label of the axis, whose labels are `step` apart. */
type Axis = (value: number, step: number) => string

const heightPixels = 180
const dayAxisPixels = 28
const valueAxisPixels = 64
const fillShare = 0.6
const halfDaySeconds = 43_200

const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const optionsOf = (
  lines: ReadonlyArray<Line>,
  width: number,
  axis: Axis,
  onIndex: (at: number | null) => void
): UPlot.Options => {
  const font = "11px system-ui, sans-serif"
  const [muted, grid] = [token("--color-muted"), token("--color-line")]
  const roomSeconds = lines.some((line) => line.bars === true) ? halfDaySeconds : 0
  const bars = UPlot.paths.bars?.({ size: [fillShare, 40] })
  return {
    width,
    height: heightPixels,
    padding: [8, 16, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    legend: { show: false },
    // A bar stands on its day: the first and the last one need room beside them.
    scales: {
      x: { time: true, range: (_chart, min, max) => [min - roomSeconds, max + roomSeconds] },
      y: { range: (_chart, _min, max) => [0, max <= 0 ? 1 : max * 1.1] }
    },
    axes: [
      {
        stroke: muted,
        font,
        size: dayAxisPixels,
        grid: { show: false },
        ticks: { show: false },
        values: (_chart, splits) => splits.map((at) => new Date(at * 1_000).toISOString().slice(5, 10))
      },
      {
        stroke: muted,
        font,
        size: valueAxisPixels,
        grid: { stroke: grid, width: 1 },
        ticks: { show: false },
        values: (_chart, splits, _axis, _space, step) => splits.map((value) => axis(value, step))
      }
    ],
    series: [
      {},
      ...lines.map((line): UPlot.Series => {
        const color = token(line.token)
        return {
          label: line.name,
          stroke: color,
          width: line.bars === true ? 0 : 2,
          ...(line.bars === true && bars !== undefined ? { paths: bars, fill: color } : {}),
          points: { show: false }
        }
      })
    ],
    hooks: { setCursor: [(chart) => onIndex(chart.cursor.idx ?? null)] }
  }
}

/** A day, and its place among the values of a line. */
type Row = readonly [day: string, at: number]

interface ChartProps {
  readonly label: string
  /** Such as `2026-11-22`. */
  readonly days: ReadonlyArray<string>
  readonly lines: ReadonlyArray<Line>
  readonly axis: Axis
}

export const Chart = ({ label, days, lines, axis }: ChartProps) => {
  const box = useRef<HTMLDivElement>(null)
  const shown = useRef<HTMLParagraphElement>(null)
  const theme = useStore(themeShown)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const say = (at: number | null) => {
      const day = at === null ? undefined : days[at]
      if (shown.current !== null)
        shown.current.textContent =
          at === null || day === undefined ? "" : `${day}: ${lines.map((one) => `${one.words(at)}`).join(", ")}`
    }
    const data: UPlot.AlignedData = [
      days.map((day) => Date.parse(day) / 1_000),
      ...lines.map(({ values }) => [...values])
    ]
    const chart = new UPlot(optionsOf(lines, element.clientWidth, axis, say), data, element)
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: heightPixels }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [days, lines, axis, theme])
  return (
    <figure>
      <div ref={box} aria-hidden="true" />
      <p ref={shown} className="min-h-4 text-small text-muted" aria-hidden="true" />
      <details className="mt-1">
        <summary className="text-small text-muted">{label} as a table</summary>
        <div className="mt-2 max-h-60 overflow-y-auto">
          <DataTable
            label={label}
            rows={days.map((day, at): Row => [day, at])}
            columns={[
              { title: "Day", cell: ([day]) => day },
              ...lines.map(
                ({ name, words }): Column<Row> => ({ title: name, cell: ([, at]) => words(at), align: "right" })
              )
            ]}
            plain
          />
        </div>
      </details>
    </figure>
  )
}

/** The names of the lines, each with its colour. */
export const Legend = ({ lines }: { readonly lines: ReadonlyArray<Line> }) => (
  <ul className="mb-1 flex flex-wrap gap-x-4 gap-y-1 text-small">
    {lines.map(({ name, token }) => (
      <li key={name} className="flex min-w-0 items-center gap-1.5">
        <span aria-hidden="true" className="h-0.5 w-3 shrink-0" style={{ background: `var(${token})` }} />
        <span className="truncate">{name}</span>
      </li>
    ))}
  </ul>
)
