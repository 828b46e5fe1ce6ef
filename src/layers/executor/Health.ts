/**
 * How every offer and raw endpoint does, as of a few seconds ago: a snapshot in memory, read again in the background.
 *
 * Routing and inspect ask it synchronously and for every candidate, so it never asks the database on their behalf. What was
 * counted is shared by all processes and survives them; a process that can't read keeps its last snapshot.
 */
import { Clock, Context, Effect, Layer, Schedule, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import * as Rules from "../../schema/runs/Health.ts"
import { oneLine } from "../postgres/Batch.ts"
import { Settings } from "../platform/Settings.ts"

interface CountRow {
  readonly subject: string
  /** Null for days before today: they are summed up. */
  readonly starts_at: Date | null
  readonly span: Rules.Span
  readonly ok: boolean
  readonly latency_bucket: number
  readonly count: bigint
}

interface Snapshot {
  /** Seconds since 1970 of the day it was taken on. */
  readonly day: number
  /** When the days before that one were last read. */
  readonly daysReadAt: number
  /** Those days by subject. */
  readonly days: ReadonlyMap<string, Rules.Window>
  readonly hour: ReadonlyMap<string, Rules.Window>
  readonly measured: ReadonlyMap<string, Rules.Measured>
}

/** Days that are over are read again this often, for what clocks that differ still add to them, and for new processes' sake. */
const daysEverySeconds = 300
/** Kept longer than they are read, so that no two clocks disagree about them. */
const forgetAfterSeconds: Readonly<Record<Rules.Span, number>> = { "5m": 2 * Rules.hourSeconds, "1d": 31 * 86_400 }

const push = <A>(lists: Map<string, Array<A>>, key: string, item: A) => {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

const sums = (lists: ReadonlyMap<string, ReadonlyArray<Rules.Window>>) =>
  new Map([...lists].map(([subject, windows]) => [subject, Rules.sum(windows)]))

/** What the rows say, over what was known before of the days that they leave out. */
const snapshotOf = (rows: ReadonlyArray<CountRow>, before: Snapshot | null, day: number, now: number): Snapshot => {
  const short = new Map<string, Map<number, Array<Rules.Window>>>()
  const today = new Map<string, Array<Rules.Window>>()
  const older = new Map<string, Array<Rules.Window>>()
  for (const { subject, starts_at, span, ok, latency_bucket, count } of rows) {
    const window = Rules.attemptsOf(ok, latency_bucket, Number(count))
    if (span === "1d") push(starts_at === null ? older : today, subject, window)
    else {
      const times = short.get(subject) ?? new Map<number, Array<Rules.Window>>()
      short.set(subject, times)
      const time = starts_at?.getTime() ?? 0
      times.set(time, [...(times.get(time) ?? []), window])
    }
  }
  const days = before === null ? sums(older) : before.days
  const hour = new Map<string, Rules.Window>()
  const measured = new Map<string, Rules.Measured>()
  for (const subject of new Set([...short.keys(), ...today.keys(), ...days.keys()])) {
    const newestFirst = [...(short.get(subject) ?? [])]
      .sort(([a], [b]) => b - a)
      .map(([, windows]) => Rules.sum(windows))
    const month = Rules.sum([days.get(subject) ?? Rules.noAttempts, ...(today.get(subject) ?? [])])
    if (newestFirst.length > 0) hour.set(subject, Rules.sum(newestFirst))
    measured.set(subject, Rules.measured(newestFirst, month))
  }
  return { day, daysReadAt: before?.daysReadAt ?? now, days, hour, measured }
}

export class Health extends Context.Service<
  Health,
  {
    readonly offer: (capability: string, provider: string) => Rules.Measured
    readonly endpoint: (provider: string, method: string, path: string) => Rules.Measured
    /** Attempts of the last hour by subject. */
    readonly lastHour: () => ReadonlyMap<string, Rules.Window>
    /** Reads the windows now. */
    readonly refresh: Effect.Effect<void>
    /** Deletes what is too old for anybody to read. */
    readonly forget: Effect.Effect<void>
  }
>()("rungate/layers/executor/Health") {
  static readonly layer = Layer.effect(
    Health,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { healthSeconds } = yield* Settings
      let snapshot: Snapshot | null = null

      /** Only windows that lie wholly within the hour and the 30 days, so that nothing older is ever called recent. */
      const read = (hourFrom: number, daysFrom: number, day: number) => sql<CountRow>`
        SELECT subject, span, CASE WHEN span = '5m' OR starts_at >= to_timestamp(${day}::float8) THEN starts_at END AS starts_at,
               ok, latency_bucket, sum(count)::bigint AS count
        FROM attempt_windows
        WHERE (span = '5m' AND starts_at >= to_timestamp(${hourFrom}::float8))
           OR (span = '1d' AND starts_at >= to_timestamp(${daysFrom}::float8))
        GROUP BY 1, 2, 3, 4, 5`

      const load = Effect.gen(function* () {
        const now = (yield* Clock.currentTimeMillis) / 1_000
        const day = Rules.windowStart("1d", now * 1_000)
        const known = snapshot
        const keep = known !== null && known.day === day && now - known.daysReadAt < daysEverySeconds ? known : null
        const rows = yield* read(now - Rules.hourSeconds, keep === null ? now - Rules.monthSeconds : day, day)
        snapshot = snapshotOf(rows, keep, day, now)
      })
      // One at a time, so that an older answer never replaces a newer one.
      const refresh = Semaphore.makeUnsafe(1).withPermits(1)(load)

      const forget = Effect.gen(function* () {
        const now = (yield* Clock.currentTimeMillis) / 1_000
        for (const span of Rules.spans) {
          const before = now - forgetAfterSeconds[span]
          yield* sql`DELETE FROM attempt_windows WHERE span = ${span} AND starts_at < to_timestamp(${before}::float8)`
        }
      })

      if (healthSeconds > 0) {
        const look = Effect.catchCause(refresh, (cause) => Effect.logWarning(`health: ${oneLine(cause)}`))
        // The first look is waited for: the first run is routed like any other.
        yield* look
        yield* look.pipe(Effect.schedule(Schedule.spaced(`${healthSeconds} seconds`)), Effect.forkScoped)
      }
      const of = (subject: string) => snapshot?.measured.get(subject) ?? Rules.unmeasured
      return Health.of({
        offer: (capability, provider) => of(Rules.offerSubject(capability, provider)),
        endpoint: (provider, method, path) => of(Rules.endpointSubject(provider, method, path)),
        lastHour: () => snapshot?.hour ?? new Map(),
        refresh: Effect.orDie(refresh),
        forget: Effect.orDie(forget)
      })
    })
  )
}
