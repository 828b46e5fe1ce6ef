/**
 * What `rungate logs tail` prints: some past runs, then each run when it starts and when it ends, once each.
 *
 * The event stream says which runs. Each is read when it is printed, because an event does not hold the whole run. The stream continues
 * after a lost connection where it stopped, so nothing is missing and nothing comes twice.
 */
import { Effect, Option, Schema, Stream } from "effect"
import { memberText } from "../../../schema/json/JsonText.ts"
import { statuses } from "../../../schema/runs/Run.ts"
import type { Event } from "../../../schema/nouns/Event.ts"
import { RunsApi } from "../../api/Runs.ts"
import type { Answer } from "../answers/Client.ts"
import { requestOf } from "../answers/operation.ts"
import { type CommandFailed, failedWith } from "../terminal/exits.ts"
import { choice, text, type FlagsOf } from "../terminal/flags.ts"
import { pageOf } from "../answers/show.ts"

/** The largest page of the API. */
const pageMost = 200
/** A run that ends within this time after it started is printed once. */
const gatherMillis = 250
/** Started runs that may wait for that time to pass. */
const gatheredMost = 1_000
/** Runs that are read at the same time. */
const parallel = 8

export const followed = ["run.started", "run.finished"] as const

export const filterFlags = {
  status: choice("status", statuses, "only runs that reach this status"),
  capability: text("capability", "only runs of this capability"),
  provider: text("provider", "only runs that this provider served"),
  endpoint: text("endpoint", "only runs of this raw endpoint")
}

const Head = Schema.fromJsonString(
  Schema.Struct({
    run_id: Schema.String,
    status: Schema.String,
    provider: Schema.NullOr(Schema.String),
    done: Schema.Boolean,
    timing: Schema.Struct({ duration_ms: Schema.Finite }),
    created_at: Schema.String
  })
)
const decodeHead = Schema.decodeUnknownOption(Head)

/** An item of the list of runs. `text` is its unchanged JSON. */
const seenIn = Effect.fnUntraced(function* (text: string) {
  const run = Option.getOrNull(decodeHead(text))
  if (run === null)
    return yield* failedWith(
      "This version of rungate can't read the list of runs. Check that both have the same version."
    )
  const { created_at, timing, ...head } = run
  // When it was created, and when it was as printed. In milliseconds since 1970.
  const asked_at = Date.parse(created_at)
  return { ...head, asked_at, at: head.done ? asked_at + timing.duration_ms : asked_at, text }
})
export type Seen = Effect.Success<ReturnType<typeof seenIn>>

/** Removes what only a single run or only the list has, so that each line has the same fields. */
const alike = (text: string) =>
  ["result", "key_id", "subject"].reduce((rest, name) => {
    const value = memberText(rest, name)
    return value === null ? rest : rest.replace(`,"${name}":${value}`, () => "")
  }, text)

const { endpoints } = RunsApi
const pathOf = (query: object) => requestOf(endpoints.list, { query }).path

export const follow = (
  filters: FlagsOf<typeof filterFlags>,
  read: (path: string) => Effect.Effect<Answer, CommandFailed>
) => {
  /** Runs of the past that were printed, and whether they had ended. Their end may come as an event, too. */
  const printed = new Map<string, boolean>()
  /** The newest run when the command began. Older runs are printed only when they end. */
  let newest = ""

  /** The latest matching runs, oldest first: at most `most`, none older than `since`. */
  const past = Effect.fnUntraced(function* (most: number, since: number) {
    const [latest] = pageOf((yield* read(pathOf({ limit: 1 }))).text).items
    if (latest !== undefined) newest = (yield* seenIn(latest)).run_id
    const runs: Array<Seen> = []
    let cursor: string | null = null
    while (runs.length < most) {
      const path = pathOf({ limit: Math.min(most, pageMost), ...filters, cursor })
      const { items, next }: ReturnType<typeof pageOf> = pageOf((yield* read(path)).text)
      for (const item of items) runs.push(yield* seenIn(alike(item)))
      if (next === null || (runs.at(-1)?.asked_at ?? since) < since) break
      cursor = next
    }
    const shown = runs.slice(0, most).filter((run) => run.asked_at >= since)
    for (const { run_id, done } of shown) printed.set(run_id, done)
    return shown.toReversed()
  })

  const matches = ({ status, provider }: Seen) =>
    (filters.status === null || status === filters.status) &&
    (filters.provider === null || provider === filters.provider)
  const concerns = ({ data }: Event) =>
    (filters.capability === null || data["capability"] === filters.capability) &&
    (filters.endpoint === null || data["endpoint"] === filters.endpoint)

  /** The run as an event says it is. Null if it is printed already, or will be printed at its end. */
  const runOf = Effect.fnUntraced(function* ({ type, data }: Event) {
    const { run_id } = data
    if (typeof run_id !== "string") return null
    const before = printed.get(run_id)
    const isEnd = type === "run.finished"
    if (isEnd) printed.delete(run_id)
    if (isEnd ? before === true : run_id <= newest) return null
    const { path } = requestOf(endpoints.get, { params: { run_id } })
    const run = yield* seenIn(alike((yield* read(path)).text))
    return run.done === isEnd && matches(run) ? run : null
  })

  /** What to print for these events, in their order. Call `past` before. */
  const news = <E>(events: Stream.Stream<Event, E>): Stream.Stream<Seen, E | CommandFailed> =>
    events.pipe(
      Stream.filter(concerns),
      Stream.mapEffect(
        (event) =>
          Effect.as(event.type === "run.started" ? Effect.sleep(`${gatherMillis} millis`) : Effect.void, event),
        { concurrency: gatheredMost }
      ),
      Stream.mapEffect(runOf, { concurrency: parallel }),
      Stream.filter((run) => run !== null)
    )

  return { past, news }
}
