/**
 * Follows the list of runs. Reports each run when it is first seen, and again when it ends.
 *
 * The list is ordered by id, and a run may appear late, below runs already seen. So every poll re-reads an overlap: a short
 * one each time and a long one every ten seconds. created_at decides whether a run is new, so no run is reported twice.
 * Unfinished runs are remembered by id without an age limit.
 */
import { Clock, Effect, Option, Schema } from "effect"
import { memberText } from "../../../schema/json/JsonText.ts"
import { isFinal, type RunStatus, statuses } from "../../../schema/runs/Run.ts"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import type { Answer } from "../answers/Client.ts"
import { fail } from "../terminal/exits.ts"
import { pageOf } from "../answers/show.ts"

/** Page sizes: the largest of the API, and a small one for quiet times. */
const pageMost = 200
const pageLeast = 20
/** The most runs read in one poll. The user is warned when there are more. */
const runsMost = 20_000
/** The overlap of each poll: inserting a run takes milliseconds. */
const shortMillis = 2_000
/** The long overlap: longer than the statement timeout and the clock skew between processes. */
const longMillis = 60_000
const longEveryMillis = 10_000
/** The most runs read one by one in a poll, after they left the lists of unfinished runs. */
const singlesMost = 20

export interface Filters {
  readonly status: RunStatus | null
  readonly capability: string | null
  readonly provider: string | null
  readonly endpoint: string | null
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

/** An item of the list of runs. */
export interface Seen {
  readonly run_id: string
  readonly status: string
  readonly provider: string | null
  readonly done: boolean
  /** When it was created, and when this event happened. In milliseconds since 1970. */
  readonly asked_at: number
  readonly at: number
  /** The unchanged JSON text. */
  readonly text: string
}

const seenIn = (text: string): Effect.Effect<Seen, CommandFailed> =>
  Option.match(decodeHead(text), {
    onNone: () =>
      fail("failed", "This version of rungate can't read the list of runs. Check that both have the same version."),
    onSome: ({ created_at, timing, ...head }) => {
      const asked_at = Date.parse(created_at)
      return Effect.succeed({ ...head, asked_at, at: head.done ? asked_at + timing.duration_ms : asked_at, text })
    }
  })

/** Removes the result, which only a single run has. */
const listed = (text: string) => {
  const result = memberText(text, "result")
  return result === null ? text : text.replace(`,"result":${result}`, () => "")
}

/** In the order in which it happened. */
const ordered = (events: ReadonlyArray<Seen>) => events.toSorted((a, b) => a.at - b.at)

/** A run's status and provider change, so they can't be asked for: a run that comes to match is far down the list by then. */
const standing = ({ capability, endpoint }: Filters) => ({ capability, endpoint, status: null, provider: null })

export const follow = (filters: Filters, read: (path: string) => Effect.Effect<Answer, CommandFailed>) => {
  const seen = new Map<string, number>()
  const open = new Map<string, { readonly status: string; readonly asked_at: number }>()
  /** Older ones than this are no news, and forgotten. */
  let horizon = Number.NEGATIVE_INFINITY
  let newest = Number.NEGATIVE_INFINITY
  let readFar = Number.NEGATIVE_INFINITY

  /** Newest first, page by page until `enough`. */
  const list = Effect.fnUntraced(function* (
    query: Filters,
    first: number,
    enough: (found: ReadonlyArray<Seen>) => boolean
  ) {
    const found: Array<Seen> = []
    let cursor: string | null = null
    for (let limit = first; ; limit = pageMost) {
      const given = new URLSearchParams({ limit: String(limit) })
      for (const [name, value] of Object.entries({ ...query, cursor })) if (value !== null) given.set(name, value)
      const { items, next }: ReturnType<typeof pageOf> = pageOf((yield* read(`/v1/runs?${given}`)).text)
      for (const item of items) found.push(yield* seenIn(item))
      if (next === null || enough(found)) return { found, whole: true }
      if (found.length >= runsMost) return { found, whole: false }
      cursor = next
    }
  })

  const remember = (runs: ReadonlyArray<Seen>) => {
    newest = runs.reduce((latest, run) => Math.max(latest, run.asked_at), newest)
  }
  const forget = () => {
    horizon = Math.max(horizon, newest - longMillis)
    for (const [run_id, asked_at] of seen) if (asked_at < horizon) seen.delete(run_id)
  }

  /** Whether it is news: a new run, or the end of one that was under way. */
  const note = ({ run_id, status, done, asked_at }: Seen): boolean => {
    const known = open.has(run_id)
    if (!known && (seen.has(run_id) || asked_at < horizon)) return false
    if (asked_at >= horizon) seen.set(run_id, asked_at)
    if (done) open.delete(run_id)
    else open.set(run_id, { status, asked_at })
    return !known || done
  }
  const matches = ({ status, provider }: Seen) =>
    (filters.status === null || status === filters.status) &&
    (filters.provider === null || provider === filters.provider)

  /** Marks existing runs as seen. Unfinished ones are reported when they end. */
  const begin = Effect.gen(function* () {
    readFar = yield* Clock.currentTimeMillis
    const { found } = yield* list(standing(filters), pageMost, (runs) => {
      const [first, last] = [runs[0], runs.at(-1)]
      // Twice the overlap, so a late run that is younger than the horizon counts as seen too.
      return first !== undefined && last !== undefined && last.asked_at < first.asked_at - 2 * longMillis
    })
    remember(found)
    forget()
    for (const run of found) note(run)
    // In the order of the run's states, so that no run is missed between two requests. Queued again, because a lost worker's run returns there.
    for (const status of [...statuses.filter((one) => !isFinal(one)), "queued" as const]) {
      const { found: older } = yield* list({ ...standing(filters), status }, pageMost, () => false)
      for (const { run_id, asked_at } of older) if (asked_at < horizon) open.set(run_id, { status, asked_at })
    }
  })

  /** The latest matching runs, oldest first: at most `most`, none older than `since`. Call it after `begin`. */
  const past = Effect.fnUntraced(function* (most: number, since: number) {
    if (most === 0) return []
    const { found } = yield* list(
      filters,
      Math.min(most, pageMost),
      (runs) => runs.length >= most || (runs.at(-1)?.asked_at ?? since) < since
    )
    const shown = found.slice(0, most).filter((run) => run.asked_at >= since)
    for (const run of shown) {
      note(run)
      if (!run.done && !open.has(run.run_id)) open.set(run.run_id, run)
    }
    return shown.toReversed()
  })

  /** Checks unfinished runs that are not on the latest page: first by status lists, then one by one. */
  const ended = Effect.fnUntraced(function* (met: ReadonlySet<string>) {
    const rest = [...open].filter(([run_id]) => !met.has(run_id))
    const still = new Set<string>()
    for (const [status, runs] of Map.groupBy(rest, ([, run]) => run.status)) {
      const oldest = Math.min(...runs.map(([, { asked_at }]) => asked_at)) - longMillis
      const one = statuses.find((known) => known === status) ?? null
      if (one === null) continue
      const { found } = yield* list(
        { ...standing(filters), status: one },
        runs.length < pageLeast ? pageLeast : pageMost,
        (all) => (all.at(-1)?.asked_at ?? oldest) < oldest
      )
      for (const { run_id } of found) still.add(run_id)
    }
    const news: Array<Seen> = []
    for (const [run_id] of rest.filter(([id]) => !still.has(id)).slice(0, singlesMost)) {
      const run = yield* seenIn(listed((yield* read(`/v1/runs/${encodeURIComponent(run_id)}`)).text))
      if (note(run)) news.push(run)
    }
    return news
  })

  /** The events since the last poll. `whole` is false when there were more runs than one poll reads. */
  const look = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const far = now - readFar >= longEveryMillis
    const down = newest - (far ? longMillis : shortMillis)
    const { found, whole } = yield* list(standing(filters), pageLeast, (runs) => (runs.at(-1)?.asked_at ?? down) < down)
    const news = found.toReversed().filter(note)
    const older = yield* ended(new Set(found.map((run) => run.run_id)))
    remember(found)
    if (far) {
      readFar = now
      forget()
    }
    return { events: ordered([...news, ...older].filter(matches)), whole }
  })

  return { begin, past, look }
}
