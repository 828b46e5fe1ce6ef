/** `rungate simulate`: what past runs would have cost and delivered under another routing policy. */
import { Clock, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { usd as usdText } from "../../../schema/money/Money.ts"
import { strategies } from "../../../schema/runs/Routing.ts"
import { Client } from "../answers/Client.ts"
import { json, show } from "../answers/show.ts"
import { boolean, text, usd } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"

const views = Effect.promise(() => import("./SimulationView.ts"))

const dayMillis = 86_400_000
/** `30d` counts back from now; other texts are passed on, and the service checks them. */
const momentOf = (given: string, now: number): string => {
  const days = /^(\d{1,4})d$/.exec(given)?.[1]
  return days === undefined ? given : new Date(now - Number(days) * dayMillis).toISOString()
}

/** A simulation may take this long, and wait for others. */
const answerSeconds = 60

export const simulate = Command.make(
  "simulate",
  {
    from: Flag.String("from").pipe(
      Flag.withDescription("runs from this date on, such as 2026-11-01, or of the last days, such as 30d"),
      Flag.withDefault("30d")
    ),
    to: text("to", "runs before this time; a date includes its day; default: now"),
    capability: text("capability", "only runs of this capability"),
    strategy: Flag.Literals("strategy", strategies).pipe(
      Flag.withDescription("the strategy of all runs; default: each as it was"),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    without: Flag.String("without").pipe(
      Flag.withDescription("a provider that is not called; may be repeated"),
      Flag.between(0, 50)
    ),
    max_cost: usd("max-cost", "the cap of each run in USD; default: each as it was").pipe(
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    no_fallback: boolean("no-fallback", "call one provider only"),
    json
  },
  Effect.fnUntraced(function* ({ from, to, capability, strategy, without, max_cost, no_fallback, json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    const now = yield* Clock.currentTimeMillis
    const answer = yield* send("POST", "/v1/simulate", {
      body: {
        from: momentOf(from, now),
        to,
        capability,
        routing: { strategy, allow_fallback: no_fallback ? false : null },
        without,
        max_cost: max_cost === null ? null : usdText(max_cost)
      },
      seconds: answerSeconds
    })
    yield* show(answer, { json }, (body) => Effect.map(views, ({ simulationLines }) => simulationLines(body, screen)))
  })
).pipe(
  Command.withDescription("Show what past runs would have cost and delivered under another routing policy"),
  Command.withExamples([
    {
      command: "rungate simulate --from 30d --without hunter --strategy cheapest",
      description: "The last 30 days without one provider, cheapest first"
    }
  ])
)
