/**
 * `rungate logs tail`: prints the organization's runs when they start and when they end, until Ctrl-C.
 *
 * It is a client of the event stream, which continues after a lost connection.
 */
import { Clock, Deferred, Effect, Fiber, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { ListedRun } from "../../../schema/nouns/Run.ts"
import type { RunStatus } from "../../../schema/runs/Run.ts"
import { Client } from "../answers/Client.ts"
import { retryingRead } from "../answers/retryingRead.ts"
import { formatOf } from "../answers/show.ts"
import { Screen, type ScreenShape, type Style } from "../terminal/Screen.ts"
import { bad } from "../terminal/exits.ts"
import { between, boolean, durationSeconds, optional, text, withExamples } from "../terminal/flags.ts"
import { cut, harmless, harmlessPainted, padEnd, padStart } from "../terminal/text.ts"
import { dollars, durationOf, timeOf } from "../terminal/values.ts"
import { targetOf } from "./RunView.ts"
import { filterFlags, follow, followed, type Seen } from "./tail.ts"

const styles: Readonly<Record<RunStatus, Style>> = {
  created: "cyan",
  reserved: "cyan",
  queued: "cyan",
  running: "cyan",
  succeeded: "green",
  no_match: "yellow",
  failed: "red",
  timed_out: "red",
  blocked: "red",
  cancelled: "dim"
}

/** Columns of a terminal: the time of day, an id, the longest status, an amount such as $0.000012, 12.3 s. */
const widths = { time: 8, run: 30, status: 9, charged: 9, took: 7 }
const fixed = Object.values(widths).reduce((sum, width) => sum + width, 0)
const whatLeast = 12
const whatMost = 44
const providerLeast = 8
const providerMost = 16

/** The widths of target and provider. A narrow terminal omits the provider; ids are never truncated. */
const layoutOf = (columns: number) => {
  const room = columns - fixed - 2 * Object.keys(widths).length - 2
  if (room < whatLeast + providerLeast) {
    return { gap: 1, what: Math.max(whatLeast, columns - fixed - Object.keys(widths).length), provider: 0 }
  }
  const provider = Math.max(providerLeast, Math.min(providerMost, Math.floor(room / 3)))
  return { gap: 2, what: Math.min(whatMost, room - provider), provider }
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(ListedRun))

const eventLine = ({ text, at }: Seen, screen: ScreenShape): string => {
  const event = decode(text)
  if (event._tag === "None") return harmless(text)
  const run = event.value
  const { gap, what, provider } = layoutOf(screen.width)
  const cell = (content: string | null, width: number) => padEnd(cut(harmless(content ?? "-"), width), width)
  return [
    screen.paint("dim", timeOf(new Date(at).toISOString()).slice(-widths.time)),
    padEnd(run.run_id, widths.run),
    screen.paint(styles[run.status], padEnd(run.status, widths.status)),
    cell(targetOf(run), what),
    ...(provider === 0 ? [] : [cell(run.provider, provider)]),
    padStart(dollars(run.billing.charged) ?? "-", widths.charged),
    padStart(run.done ? durationOf(run.timing.duration_ms) : "-", widths.took),
    ...(run.error === undefined || run.error.code === run.status ? [] : [harmless(run.error.code)])
  ].join(" ".repeat(gap))
}

/** Events that wait while the past is read. More of them wait at the service. */
const buffered = 1_000

const pastDefault = 10
/** The most past runs shown. `rungate runs list` pages through all of them. */
const pastMost = 10_000

/** Parses a duration before now, or a date, into milliseconds since 1970. Null when it is neither. */
export const sinceOf = (given: string, now: number): number | null => {
  const seconds = durationSeconds(given)
  if (seconds > 0) return now - seconds * 1000
  const at = /^\d{4}-\d\d-\d\d/.test(given) ? Date.parse(given) : Number.NaN
  return Number.isNaN(at) ? null : at
}

const tail = Command.make(
  "tail",
  {
    ...filterFlags,
    since: text("since", "also show past runs since then: 10m, 2h, 1d, or a time such as 2026-11-21T09:00:00Z"),
    limit: optional(
      between(
        "limit",
        0,
        pastMost,
        `past runs to show first, 0 to ${pastMost}; default: ${pastDefault}, or all with --since`
      ).pipe(Flag.withAlias("n"))
    ),
    jsonl: boolean("jsonl", "print one JSON run per line; default in a pipe").pipe(Flag.withAlias("json"))
  },
  Effect.fnUntraced(function* ({ since, limit, jsonl, ...filters }) {
    const { url, events } = yield* Client
    const screen = yield* Screen
    const from = since === null ? null : sinceOf(since, yield* Clock.currentTimeMillis)
    if (since !== null && from === null) {
      return yield* bad(
        `Invalid --since ${since}. Give a duration such as 30s, 10m, 2h or 1d, or a time such as 2026-11-21T09:00:00Z.`
      )
    }
    const runs = follow(filters, yield* retryingRead)
    const isTable = formatOf(screen, { json: false, jsonl }) === "table"
    const lineOf = (event: Seen) =>
      isTable ? harmlessPainted(eventLine(event, screen)) : event.text.replace(/\n/g, " ")
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
  withExamples({
    "rungate logs tail --status failed --since 1h": "Failures of the last hour and new ones",
    "rungate logs tail -n 0 | jq -r 'select(.done) | .billing.charged'": "The charge of each run when it ends"
  })
)

export const logs = Command.make("logs").pipe(
  Command.withDescription("Follow runs live"),
  Command.withSubcommands([tail])
)
