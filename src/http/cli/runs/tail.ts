/**
 * Follows the list of runs: each run once when it is first seen, and once more when it ends, if it was under way before.
 *
 * The list is in the order of ids, and a run may enter it late, below others that were seen already; so every look reads a stretch
 * that was read before, a short one each time and a long one now and then. A run counts as new by the database's time at
 * which it was written, so nothing is told twice. What is under way is remembered by its id, however old it is.
 */
import { Clock, Effect, Option, Schema } from "effect"
import { memberText } from "../../../schema/json/JsonText.ts"
import { isFinal, type RunStatus, statuses } from "../../../schema/runs/Run.ts"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import type { Answer } from "../answers/Client.ts"
import { fail } from "../terminal/exits.ts"
import { pageOf } from "../answers/show.ts"

/** As many as the service gives at once; a look at a quiet list needs few. */
const pageMost = 200
const pageLeast = 20
/** Runs that one look holds: what is older stands in the list, and the user is told so. */
const runsMost = 20_000
/** How far below the newest run each look reads again: an admission is a statement of milliseconds. */
const shortMillis = 2_000
/** How far now and then: longer than any statement may take, and than clocks of several processes are apart. */
const longMillis = 60_000
const longEveryMillis = 10_000
/** Runs asked for one by one in a look, when they are no more where they were. */
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

/** A run as the list shows it. */
export interface Seen {
  readonly run_id: string
  readonly status: string
  readonly provider: string | null
  readonly done: boolean
  /** When it was asked for, and when this happened: its end, or that. In milliseconds since 1970. */
  readonly asked_at: number
  readonly at: number
  /** As it came. */
  readonly text: string
}

const seenIn = (text: string): Effect.Effect<Seen, CommandFailed> =>
  Option.match(decodeHead(text), {
    onNone: () => fail("failed", "The service lists runs in a way that this version of rungate doesn't know."),
    onSome: ({ created_at, timing, ...head }) => {
      const asked_at = Date.parse(created_at)
      return Effect.succeed({ ...head, asked_at, at: head.done ? asked_at + timing.duration_ms : asked_at, text })
    }
  })

/** A single run brings its result along, and a listed one doesn't. */
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

  /** Everything that is there already is no news, except that what is under way will end. */
  const begin = Effect.gen(function* () {
    readFar = yield* Clock.currentTimeMillis
    const { found } = yield* list(standing(filters), pageMost, (runs) => {
      const [first, last] = [runs[0], runs.at(-1)]
      // Twice as far: what is younger than the horizon and was late is no news either.
      return first !== undefined && last !== undefined && last.asked_at < first.asked_at - 2 * longMillis
    })
    remember(found)
    forget()
    for (const run of found) note(run)
    // In the order of a run's life, so that none slips by between two questions; and queued again, where a lost worker's run goes.
    for (const status of [...statuses.filter((one) => !isFinal(one)), "queued" as const]) {
      const { found: older } = yield* list({ ...standing(filters), status }, pageMost, () => false)
      for (const { run_id, asked_at } of older) if (asked_at < horizon) open.set(run_id, { status, asked_at })
    }
  })

  /** The latest runs that match, oldest first: at most `most`, and none from before `since`. After `begin`. */
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

  /** Those under way that the latest runs don't show any more: in the lists of what is under way, else one by one. */
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

  /** What has happened since the last look. `whole` is false when more happened than one look holds. */
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
