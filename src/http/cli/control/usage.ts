/** `rungate usage`: counts and charges of runs in groups, with bars at a terminal. */
import { Clock, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Client } from "../answers/Client.ts"
import { allPages } from "../answers/pages.ts"
import { showCsv } from "../answers/csv.ts"
import { json, jsonl, showList } from "../answers/show.ts"
import { boolean, text } from "../terminal/flags.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"

const dayMillis = 86_400_000
/** The longest period of the API. */
const daysMost = 400

const views = Effect.promise(() => import("./UsageView.ts"))

export const usage = Command.make(
  "usage",
  {
    by: Flag.String("by").pipe(
      Flag.withDescription(
        "up to two of day, capability, provider, key, endpoint, status and metadata.<name>, separated by a comma; default: day"
      ),
      Flag.withDefault("day")
    ),
    days: Flag.Int("days").pipe(
      Flag.withDescription(`the last days up to today, UTC, 1 to ${daysMost}; default: 30`),
      Flag.filter(
        (days) => days >= 1 && days <= daysMost,
        (days) => `--days must be from 1 to ${daysMost}, not ${days}`
      ),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    from: text("from", "the first day, such as 2026-11-01"),
    to: text("to", "the last day"),
    csv: boolean("csv", "print CSV with a header line"),
    json,
    jsonl
  },
  Effect.fnUntraced(function* ({ by, days, from, to, csv, json, jsonl }) {
    const { send } = yield* Client
    const screen = yield* Screen
    if (days !== null && (from !== null || to !== null))
      return yield* fail("usage", "Give either --days, or --from and --to.")
    const today = yield* Clock.currentTimeMillis
    const first = days === null ? from : new Date(today - (days - 1) * dayMillis).toISOString().slice(0, 10)
    const query = new URLSearchParams({ group_by: by })
    for (const [name, value] of [
      ["from", first],
      ["to", to]
    ] as const)
      if (value !== null) query.set(name, value)
    if (csv) return yield* showCsv(`/v1/usage?${query}`, { json, jsonl })
    query.set("limit", "200")
    const answer = yield* allPages(`/v1/usage?${query}`, (path) => send("GET", path))
    yield* showList(answer, { json, jsonl }, (body) =>
      Effect.map(views, ({ usageLines }) => usageLines(body, by, screen))
    )
  })
).pipe(
  Command.withDescription("Show how many runs there were and what they cost, in groups"),
  Command.withExamples([
    { command: "rungate usage --days 7", description: "The last week, day by day" },
    { command: "rungate usage --by capability,status", description: "What was run, and how it ended" },
    { command: "rungate usage --by metadata.campaign --csv", description: "For a spreadsheet" }
  ])
)
