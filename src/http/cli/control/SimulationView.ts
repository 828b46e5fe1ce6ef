/** Draws a simulation for a terminal: what happened beside what would have happened. Loaded on demand, because it imports the API contract. */
import { Simulation } from "../../api/Simulations.ts"
import { decoded, type Lines } from "../answers/show.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"

interface Row {
  readonly figure: string
  readonly actual: string
  readonly lower: string
  readonly expected: string
  readonly upper: string
}

const percent = (rate: number | null) => (rate === null ? "-" : `${(rate * 100).toFixed(1)} %`)
const millis = (value: number | null) => (value === null ? "unknown" : `${value} ms`)
const count = (runs: number, what: string) => `${runs} ${runs === 1 ? "run" : "runs"} ${what}`

export const simulationLines = (text: string, screen: ScreenShape): Lines | null => {
  const simulation = decoded(Simulation, text)
  if (simulation === null) return null
  const { actual, simulated, runs, unchanged_runs, unknown_runs, unknown_share, refused_runs, left_out } = simulation
  const row = <A>(
    figure: string,
    was: A,
    would: { readonly lower: A; readonly expected: A; readonly upper: A },
    shown: (value: A) => string
  ): Row => ({
    figure,
    actual: shown(was),
    lower: shown(would.lower),
    expected: shown(would.expected),
    upper: shown(would.upper)
  })
  const rows = [
    row("cost", actual.cost, simulated.cost, (amount) => `$${amount}`),
    row("hit rate", actual.hit_rate, simulated.hit_rate, percent),
    row("latency p95", actual.latency_ms_p95, simulated.latency_ms_p95, millis)
  ]
  const columns = [
    { title: "", of: (one: Row) => one.figure },
    { title: "HAPPENED", of: (one: Row) => one.actual, right: true },
    { title: "EXPECTED", of: (one: Row) => one.expected, right: true },
    { title: "AT LEAST", of: (one: Row) => one.lower, right: true },
    { title: "AT MOST", of: (one: Row) => one.upper, right: true }
  ]
  const { raw, erased, older } = left_out
  const notes = [
    `${count(runs, "simulated")}, ${unchanged_runs} of them as they went.`,
    `${count(unknown_runs, `(${percent(unknown_share)}) would have called a provider that was not called, so nobody knows the answer.`)}`,
    ...(refused_runs > 0 ? [`${count(refused_runs, "would have found no provider.")}`] : []),
    ...(raw + erased + older > 0
      ? [`Not simulated: ${raw} of raw endpoints, ${erased} erased, ${older} of an older release.`]
      : [])
  ]
  return [
    ...table(rows, columns, screen.width, (line) => screen.paint("bold", line)),
    "",
    ...notes.map((line) => screen.paint("dim", line))
  ]
}
