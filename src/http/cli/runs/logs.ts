/** `rungate logs tail`: follows the organization's runs as they are asked for and as they end, until Ctrl-C. */
import { Clock, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { statuses } from "../../../schema/runs/Run.ts"
import { Client } from "../answers/Client.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatOf } from "../answers/show.ts"
import { retryingRead } from "../answers/retryingRead.ts"
import { follow, type Seen } from "./tail.ts"

/** Between two looks: while things happen, and after some time in which nothing did. */
const pauseSecondsLeast = 1
const pauseSecondsMost = 5
/** How much longer each pause is than the one before. */
const slowing = 1.5

const pastDefault = 10
/** More past than anybody reads; rungate runs list pages through all of it. */
const pastMost = 10_000

const views = Effect.promise(() => import("./LogsView.ts"))
const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional, Flag.map(Option.getOrNull))

const unitMillis: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A time, in milliseconds since 1970: a duration before now, or a date. Null when it is neither. */
export const sinceOf = (given: string, now: number): number | null => {
  const [, count, unit = ""] = /^(\d{1,6})(s|m|h|d)$/.exec(given) ?? []
  if (count !== undefined) return now - Number(count) * (unitMillis[unit] ?? 0)
  const at = /^\d{4}-\d\d-\d\d/.test(given) ? Date.parse(given) : Number.NaN
  return Number.isNaN(at) ? null : at
}

const tail = Command.make(
  "tail",
  {
    status: Flag.Literals("status", statuses).pipe(
      Flag.withDescription("only runs that come to have this status"),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    capability: text("capability", "only runs of this capability"),
    provider: text("provider", "only runs that this provider served"),
    endpoint: text("endpoint", "only runs of this raw endpoint"),
    since: text("since", "first show the past from then on: 10m, 2h, 1d, or a time such as 2026-11-21T09:00:00Z"),
    limit: Flag.Int("limit").pipe(
      Flag.withAlias("n"),
      Flag.withDescription(
        `how many of the past runs are shown first, 0 to ${pastMost}; ${pastDefault} when left out, with --since all`
      ),
      Flag.filter(
        (count) => count >= 0 && count <= pastMost,
        (count) => `--limit must be from 0 to ${pastMost}, not ${count}`
      ),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    jsonl: Flag.Boolean("jsonl").pipe(
      Flag.withAlias("json"),
      Flag.withDescription("print each run as the API lists it, one per line; so it is in a pipe"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ since, limit, jsonl, ...filters }) {
    const { url } = yield* Client
    const screen = yield* Screen
    const from = since === null ? null : sinceOf(since, yield* Clock.currentTimeMillis)
    if (since !== null && from === null) {
      return yield* fail(
        "usage",
        `--since takes 30s, 10m, 2h, 1d or a time such as 2026-11-21T09:00:00Z, not ${since}.`
      )
    }
    const runs = follow(filters, yield* retryingRead)
    const drawn = formatOf(screen, { json: false, jsonl }) === "table" ? yield* views : null
    const lineOf = (event: Seen) => (drawn === null ? event.text.replace(/\n/g, " ") : drawn.eventLine(event, screen))
    const print = (events: ReadonlyArray<Seen>) => screen.out(events.map((event) => `${lineOf(event)}\n`).join(""))

    yield* screen.status(`Reading the latest runs of ${url}`)
    yield* runs.begin
    const most = limit ?? (from === null ? pastDefault : pastMost)
    const past = yield* runs.past(most, from ?? Number.NEGATIVE_INFINITY)
    yield* screen.status("")
    yield* print(past)
    if (limit === null && past.length === pastMost) {
      yield* screen.warn(`These are the latest ${pastMost}; rungate runs list has the rest.`)
    }
    yield* screen.say(`Following the runs at ${url} (Ctrl-C ends).`, "dim")

    let pause = pauseSecondsLeast
    // Whoever read this has gone: there is nobody to follow for.
    while (!screen.closed()) {
      yield* Effect.sleep(`${pause} seconds`)
      const { events, whole } = yield* runs.look
      if (!whole)
        yield* screen.warn("More has happened than one look holds: rungate runs list has the older runs.", "yellow")
      yield* print(events)
      pause = events.length > 0 ? pauseSecondsLeast : Math.min(pauseSecondsMost, pause * slowing)
    }
  })
).pipe(
  Command.withDescription("Follow runs live: a line when a run is first seen, and one when it ends"),
  Command.withExamples([
    {
      command: "rungate logs tail --status failed --since 1h",
      description: "What failed in the last hour, and what fails now"
    },
    {
      command: "rungate logs tail -n 0 | jq -r 'select(.done) | .billing.charged'",
      description: "What each run costs, as it ends"
    }
  ])
)

export const logs = Command.make("logs").pipe(
  Command.withDescription("Follow what happens"),
  Command.withSubcommands([tail])
)
