/** What `run` and `call` share: the quote and the question before, one delivery, the result and its receipt after. */
import { Config, Effect, Option } from "effect"
import { Flag } from "effect/cli"
import * as Money from "../../../schema/money/Money.ts"
import { runIn } from "../../api/shapes/KnownRun.ts"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import type { Client } from "../answers/Client.ts"
import { conclude, deliver, leftBy } from "./execution.ts"
import { fail } from "../terminal/exits.ts"
import { Journal } from "../state/Journal.ts"
import type * as Quotes from "./quote.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatOf, json, lines, printed } from "../answers/show.ts"

/** Longer than any run takes; more is a mistake in the unit. */
const waitSecondsMost = 24 * 3600

const boolean = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

export const waitFlag = Flag.Int("wait").pipe(
  Flag.withDescription("seconds to wait for the result; then exit code 8, and the run goes on"),
  Flag.filter(
    (seconds) => seconds >= 0 && seconds <= waitSecondsMost,
    (seconds) => `--wait must be from 0 to ${waitSecondsMost} seconds, not ${seconds}`
  )
)

export const runFlags = {
  max_cost: Flag.String("max-cost").pipe(
    Flag.withDescription("USD that it may cost at most, such as 0.05; RUNGATE_MAX_COST when left out"),
    Flag.withFallbackConfig(Config.NonEmptyString("RUNGATE_MAX_COST")),
    Flag.withSchema(Money.Usd),
    Flag.optional,
    Flag.map(Option.getOrNull)
  ),
  wait: waitFlag.pipe(Flag.withDefault(30)),
  async: boolean("async", "don't wait: print the run as soon as it is accepted (exit code 0)"),
  yes: boolean("yes", "don't show the quote, don't ask").pipe(Flag.withAlias("y")),
  dry_run: boolean("dry-run", "show what it would cost; run nothing"),
  again: boolean("again", "start another run, also where the same command was just broken off"),
  json
}

export interface Spending {
  readonly max_cost: Money.MicroUsd | null
  readonly wait: number
  readonly async: boolean
  readonly yes: boolean
  readonly dry_run: boolean
  readonly again: boolean
  readonly json: boolean
}

export interface Request {
  readonly title: string
  /** The body of POST /v1/run as JSON text, under this cap. */
  readonly bodyWith: (max_cost: Money.MicroUsd | null) => string
  /** Where a cap is missing, a terminal that can't be asked is refused. */
  readonly capNeeded: boolean
  /** Free. Loaded where it is needed. */
  readonly quote: (module: typeof Quotes) => Effect.Effect<Quotes.Quote, CommandFailed, Client>
}

const quoting = Effect.promise(() => import("./quote.ts"))

/** One run by a user: asks first where there is somebody to ask. */
export const confirmAndRun = Effect.fnUntraced(function* (request: Request, given: Spending) {
  const screen = yield* Screen
  const journal = yield* Journal
  const { title, bodyWith, quote } = request
  const format = formatOf(screen, given)
  if (given.dry_run) {
    const module = yield* quoting
    const found = yield* quote(module)
    if (format === "json") return yield* screen.out(module.dryRunJson(bodyWith(given.max_cost), found))
    return yield* screen.out(`${module.dryRunLines(title, found).join("\n")}\n`)
  }
  if (screen.person && !screen.askable && request.capNeeded && given.max_cost === null && !given.yes) {
    return yield* fail("usage", "A raw call needs --max-cost, or --yes, where nobody can be asked.")
  }
  // The journal knows a command by what the user typed, not by the cap that a question added.
  const asked = bodyWith(given.max_cost)
  const left = yield* leftBy(asked, given.again)
  const cap =
    left === null && screen.askable && !given.yes
      ? yield* Effect.flatMap(quoting, (module) =>
          Effect.flatMap(quote(module), (found) => module.confirm(title, found, given.max_cost))
        )
      : given.max_cost
  const entry = left ?? (yield* journal.open({ title, asked, body: bodyWith(cap) }))
  const answer = yield* deliver(entry, left !== null, { seconds: given.wait, async: given.async })
  yield* showRun(answer.text, format === "json", given.async)
  const accepted = given.async && runIn(answer.text) !== null && answer.status === 202
  if (!accepted) yield* conclude(answer)
})

/** A run that somebody waited for: its result, and what it cost. */
export const showRun = Effect.fnUntraced(function* (text: string, asJson: boolean, accepted: boolean) {
  const screen = yield* Screen
  if (asJson) return yield* screen.out(printed(text))
  const run = runIn(text)
  if (run === null) return
  const { runLines, receipt } = yield* Effect.promise(() => import("./RunView.ts"))
  if (accepted) {
    yield* screen.out(`${run.run_id}\n`)
    return yield* screen.say(`Accepted. Wait for it with: rungate runs wait ${run.run_id}`)
  }
  yield* lines(runLines(text, screen, true), text)
  const line = receipt(text)
  if (line !== null) yield* screen.say(line, "dim")
})
