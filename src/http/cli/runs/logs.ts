/**
 * `rungate logs tail`: prints the organization's runs when they start and when they end, until Ctrl-C.
 *
 * It is a client of the event stream, which continues after a lost connection.
 */
import { Clock, Deferred, Effect, Fiber, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { statuses } from "../../../schema/runs/Run.ts"
import { Client } from "../answers/Client.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatOf } from "../answers/show.ts"
import { retryingRead } from "../answers/retryingRead.ts"
import { eventLine } from "./LogsView.ts"
import { follow, followed, type Seen } from "./tail.ts"
import { choice, text } from "../terminal/flags.ts"

/** Events that wait while the past is read. More of them wait at the service. */
const buffered = 1_000

const pastDefault = 10
/** The most past runs shown. `rungate runs list` pages through all of them. */
const pastMost = 10_000

const unitMillis: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a duration before now, or a date, into milliseconds since 1970. Null when it is neither. */
export const sinceOf = (given: string, now: number): number | null => {
  const [, count, unit = ""] = /^(\d{1,6})(s|m|h|d)$/.exec(given) ?? []
  if (count !== undefined) return now - Number(count) * (unitMillis[unit] ?? 0)
  const at = /^\d{4}-\d\d-\d\d/.test(given) ? Date.parse(given) : Number.NaN
  return Number.isNaN(at) ? null : at
}

const tail = Command.make(
  "tail",
  {
    status: choice("status", statuses, "only runs that reach this status"),
    capability: text("capability", "only runs of this capability"),
    provider: text("provider", "only runs that this provider served"),
    endpoint: text("endpoint", "only runs of this raw endpoint"),
    since: text("since", "also show past runs since then: 10m, 2h, 1d, or a time such as 2026-11-21T09:00:00Z"),
    limit: Flag.Int("limit").pipe(
      Flag.withAlias("n"),
      Flag.withDescription(`past runs to show first, 0 to ${pastMost}; default: ${pastDefault}, or all with --since`),
      Flag.filter(
        (count) => count >= 0 && count <= pastMost,
        (count) => `--limit must be from 0 to ${pastMost}, not ${count}`
      ),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    jsonl: Flag.Boolean("jsonl").pipe(
      Flag.withAlias("json"),
      Flag.withDescription("print one JSON run per line; default in a pipe"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ since, limit, jsonl, ...filters }) {
    const { url, events } = yield* Client
    const screen = yield* Screen
    const from = since === null ? null : sinceOf(since, yield* Clock.currentTimeMillis)
    if (since !== null && from === null) {
      return yield* fail(
        "usage",
        `Invalid --since ${since}. Give a duration such as 30s, 10m, 2h or 1d, or a time such as 2026-11-21T09:00:00Z.`
      )
    }
    const runs = follow(filters, yield* retryingRead)
    const isTable = formatOf(screen, { json: false, jsonl }) === "table"
    const lineOf = (event: Seen) => (isTable ? eventLine(event, screen) : event.text.replace(/\n/g, " "))
    const print = (events: ReadonlyArray<Seen>) => screen.out(events.map((event) => `${lineOf(event)}\n`).join(""))

    yield* screen.status(`Reading the latest runs of ${url}`)
    const connected = yield* Deferred.make<void>()
    const isPastPrinted = yield* Deferred.make<void>()
    const live = events({ types: followed }, Effect.asVoid(Deferred.succeed(connected, undefined))).pipe(
      Stream.buffer({ capacity: buffered }),
      Stream.tap(() => Deferred.await(isPastPrinted)),
      runs.news,
      Stream.mapEffect((run) => print([run])),
      // Stop when the reader of stdout has closed the pipe.
      Stream.takeUntil(() => screen.closed()),
      Stream.runDrain
    )
    // The stream begins before the past is read, so no run is missed in between.
    const following = yield* Effect.forkChild(live)
    yield* Effect.raceFirst(Deferred.await(connected), Fiber.join(following))
    const most = limit ?? (from === null ? pastDefault : pastMost)
    const past = yield* runs.past(most, from ?? Number.NEGATIVE_INFINITY)
    yield* screen.status("")
    yield* print(past)
    if (limit === null && past.length === pastMost) {
      yield* screen.warn(`Only the latest ${pastMost} runs are shown. List older ones with: rungate runs list`)
    }
    yield* screen.say(`Following the runs at ${url} (Ctrl-C stops).`, "dim")
    yield* Deferred.succeed(isPastPrinted, undefined)
    yield* Fiber.join(following)
  })
).pipe(
  Command.withDescription("Follow runs live: one line when a run starts and one when it ends"),
  Command.withExamples([
    {
      command: "rungate logs tail --status failed --since 1h",
      description: "Failures of the last hour and new ones"
    },
    {
      command: "rungate logs tail -n 0 | jq -r 'select(.done) | .billing.charged'",
      description: "The charge of each run when it ends"
    }
  ])
)

export const logs = Command.make("logs").pipe(
  Command.withDescription("Follow runs live"),
  Command.withSubcommands([tail])
)
