/**
 * Success rates and latencies of every offer and raw endpoint: a snapshot in memory, refreshed in the background.
 *
 * Routing and inspect read the snapshot for every candidate, so they never wait for the database. The counts are stored in
 * Postgres and shared by all processes. A process that can't read them keeps its last snapshot.
 */
import { Clock, Context, Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Rules from "../../schema/runs/Health.ts"
import { logFailure } from "../postgres/Batch.ts"
import { rowsOf } from "../postgres/Rows.ts"
import { Settings } from "../platform/Settings.ts"
import { sharedReading } from "../platform/sharedReading.ts"

const CountRow = Schema.Struct({
  subject: Schema.String,
  /** The query adds up the days before today as one window, which starts before today. */
  starts_at: Schema.Date,
  span: Schema.Literals(Rules.spans),
  ok: Schema.Boolean,
  latency_bucket: Schema.Int,
  count: Schema.BigInt
})
type CountRow = typeof CountRow.Type
const countRows = rowsOf(CountRow.fields)

interface Snapshot {
  /** The start of the snapshot's day, in seconds since 1970. */
  readonly day: number
  /** When the days before `day` were last read, in seconds since 1970. */
  readonly daysReadAt: number
  /** Sums of the days before `day`, by subject. */
  readonly days: ReadonlyMap<string, Rules.Window>
  readonly hour: ReadonlyMap<string, Rules.Window>
  readonly measured: ReadonlyMap<string, Rules.Measured>
}

/** Past days are read again this often, because a process whose clock is late may still add to them. */
const daysEverySeconds = 300
/** Rows are kept longer than they are read, so that clocks that differ don't matter. */
const forgetAfterSeconds: Readonly<Record<Rules.Span, number>> = { "5m": 2 * Rules.hourSeconds, "1d": 31 * 86_400 }

const push = <A>(lists: Map<string, Array<A>>, key: string, item: A) => {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

const sums = (lists: ReadonlyMap<string, ReadonlyArray<Rules.Window>>) =>
  new Map([...lists].map(([subject, windows]) => [subject, Rules.sum(windows)]))

/** The snapshot of these rows. Past days come from `before`, when it is given. */
const snapshotOf = (rows: ReadonlyArray<CountRow>, before: Snapshot | null, day: number, now: number): Snapshot => {
  const short = new Map<string, Map<number, Array<Rules.Window>>>()
  const today = new Map<string, Array<Rules.Window>>()
  const older = new Map<string, Array<Rules.Window>>()
  for (const { subject, starts_at, span, ok, latency_bucket, count } of rows) {
    const window = Rules.attemptsOf(ok, latency_bucket, Number(count))
    const time = starts_at.getTime()
    if (span === "1d") push(time < day * 1_000 ? older : today, subject, window)
    else {
      const times = short.get(subject) ?? new Map<number, Array<Rules.Window>>()
      short.set(subject, times)
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
    /** Reads the counts now. */
    readonly refresh: Effect.Effect<void>
    /** Deletes counts that are too old to be read. */
    readonly forget: Effect.Effect<void>
  }
>()("rungate/layers/executor/Health") {
  static readonly layer = Layer.effect(
    Health,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { healthSeconds } = yield* Settings
      let snapshot: Snapshot | null = null

      /** Only windows that lie completely within the last hour and the last 30 days. */
      const read = (hourFrom: number, daysFrom: number, day: number) =>
        countRows(sql`
        SELECT subject, span, CASE WHEN span = '5m' OR starts_at >= to_timestamp(${day}::float8) THEN starts_at
                                   ELSE to_timestamp(${daysFrom}::float8) END AS starts_at,
               ok, latency_bucket, sum(count)::bigint AS count
        FROM attempt_windows
        WHERE (span = '5m' AND starts_at >= to_timestamp(${hourFrom}::float8))
           OR (span = '1d' AND starts_at >= to_timestamp(${daysFrom}::float8))
        GROUP BY 1, 2, 3, 4, 5`)

      const load = Effect.gen(function* () {
        const now = (yield* Clock.currentTimeMillis) / 1_000
        const day = Rules.windowStart("1d", now * 1_000)
        const last = snapshot
        const keep = last !== null && last.day === day && now - last.daysReadAt < daysEverySeconds ? last : null
        const rows = yield* read(now - Rules.hourSeconds, keep === null ? now - Rules.monthSeconds : day, day)
        snapshot = snapshotOf(rows, keep, day, now)
      })
      const refresh = sharedReading(load)

      const forget = Effect.gen(function* () {
        const now = (yield* Clock.currentTimeMillis) / 1_000
        for (const span of Rules.spans) {
          const before = now - forgetAfterSeconds[span]
          yield* sql`DELETE FROM attempt_windows WHERE span = ${span} AND starts_at < to_timestamp(${before}::float8)`
        }
      })

      if (healthSeconds > 0) {
        const refreshOrWarn = Effect.catchCause(
          refresh,
          logFailure("Reading health counts failed; keeping the last ones")
        )
        // Startup waits for the first read, so that the first run is routed by health too.
        yield* refreshOrWarn
        yield* refreshOrWarn.pipe(Effect.schedule(Schedule.spaced(`${healthSeconds} seconds`)), Effect.forkScoped)
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
