/** `rungate simulate`: what past runs would have cost and delivered under another routing policy, beside what happened. */
import { Effect } from "effect"
import { Flag } from "effect/cli"
import { strategies } from "../../../schema/runs/Routing.ts"
import { Simulation } from "../../../schema/nouns/Simulation.ts"
import { SimulationsApi } from "../../api/Simulations.ts"
import { replayLines } from "../../client/ConfigurationText.ts"
import { drawn, tableLines } from "../answers/draw.ts"
import { rowWith } from "../answers/row.ts"
import { harmless } from "../terminal/text.ts"
import { boolean, choice, momentOf, required } from "../terminal/flags.ts"

/** A simulation may take this long, and wait for others. */
const answerSeconds = 60

const percent = (rate: number | null) => (rate === null ? "-" : `${(rate * 100).toFixed(1)} %`)
const millis = (value: number | null) => (value === null ? "unknown" : `${value} ms`)
const count = (runs: number, what: string) => `${runs} ${runs === 1 ? "run" : "runs"} ${what}`

const show = drawn(Simulation, (simulation, shown) => {
  const { actual, simulated, runs, unchanged_runs, unknown_runs, unknown_share, refused_runs, left_out, limits } =
    simulation
  const row = <A>(
    figure: string,
    was: A,
    would: { readonly lower: A; readonly expected: A; readonly upper: A },
    text: (value: A) => string
  ) => [figure, text(was), text(would.expected), text(would.lower), text(would.upper)]
  const { raw, erased, older } = left_out
  const notes = [
    `${count(runs, "simulated")}, ${unchanged_runs} of them as they went.`,
    `${count(unknown_runs, `(${percent(unknown_share)}) would have called a provider that was not called, so nobody knows the answer.`)}`,
    ...(refused_runs > 0 ? [`${count(refused_runs, "would have found no provider.")}`] : []),
    ...(raw + erased + older > 0
      ? [`Not simulated: ${raw} of raw endpoints, ${erased} erased, ${older} of an older release.`]
      : []),
    ...replayLines(limits ?? null, "today's rules").map(harmless)
  ]
  return [
    ...tableLines(
      [
        row("cost", actual.cost, simulated.cost, (amount) => `$${amount}`),
        row("hit rate", actual.hit_rate, simulated.hit_rate, percent),
        row("latency p95", actual.latency_ms_p95, simulated.latency_ms_p95, millis)
      ],
      ["", "HAPPENED", "EXPECTED", "AT LEAST", "AT MOST"].map((title, at) => ({
        title,
        of: (texts) => texts[at] ?? null,
        right: at > 0
      })),
      shown
    ),
    "",
    ...notes.map((line) => shown.screen.paint("dim", line))
  ]
})

export const simulate = rowWith(
  SimulationsApi.endpoints.simulate,
  {
    strategy: choice("strategy", strategies, "the strategy of all runs; default: each as it was"),
    no_fallback: boolean("no-fallback", "call one provider only")
  },
  ({ strategy, no_fallback }, { fields: { from }, now }) =>
    Effect.succeed({
      from: momentOf(String(from), now, -1),
      routing: { strategy, allow_fallback: no_fallback ? false : null }
    }),
  {
    about: "Show what past runs would have cost and delivered under another routing policy",
    seconds: answerSeconds,
    fields: {
      from: required("from", "runs from this date on, such as 2026-11-01, or of the last days, such as 30d").pipe(
        Flag.withDefault("30d")
      ),
      routing: false,
      max_cost: "the cap of each run in USD; default: each as it was"
    },
    examples: {
      "rungate simulate --from 30d --without hunter --strategy cheapest":
        "The last 30 days without one provider, cheapest first"
    },
    show
  }
)
