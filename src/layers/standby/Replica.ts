/**
 * An optional standby for reads (DATABASE_READ_URL). It answers only if it has everything that was committed when the read began.
 *
 * The primary says how far its log is written, and the standby how far it has applied the log. So a client finds its own writes,
 * whichever process took them. If the standby is behind, away, slow or no longer a standby of this primary, the primary answers.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Settings } from "../platform/Settings.ts"
import { batch, oneLine } from "../postgres/Batch.ts"
import { readClientOf } from "../postgres/Database.ts"
import { DatabaseRefused } from "../postgres/DatabaseSchema.ts"
import { placeOf } from "../postgres/connection/DatabaseUrl.ts"
import { oneRowOf } from "../postgres/Rows.ts"

/** Pauses between looks at a standby that is behind, in milliseconds. A standby in the same network needs one or two. */
const looksAfter = [0, 3, 10, 30]
/** One look. A standby that takes longer is slower than the primary. */
const lookMillisMax = 250
/** A read on the standby. After this long the primary is asked instead. */
const readMillisMax = 3_000
/** A standby that did not answer or was behind is not asked for this long, so that not every read waits for it. */
const restMillis = 1_000
const startMillisMax = 5_000

const boundRow = oneRowOf({
  lsn: Schema.String,
  timeline: Schema.Number,
  system: Schema.String,
  database: Schema.String
})
const standbyRow = oneRowOf({
  standby: Schema.Boolean,
  applied: Schema.Boolean,
  timeline: Schema.Number,
  system: Schema.String,
  database: Schema.String
})
/** How far the primary's log is on disk: every commit that was answered is before it. Identity and timeline of the primary beside it. */
type Bound = Effect.Success<ReturnType<typeof boundRow>>
type Standby = Effect.Success<ReturnType<typeof standbyRow>>

/** Why this server must never answer reads of the primary. Null: it may, once it has applied enough. Pure. */
export const wrongStandby = (bound: Bound, standby: Standby): string | null => {
  if (standby.system !== bound.system) return "is a copy of another database server than that of DATABASE_URL"
  if (standby.database !== bound.database) return "is another database of that server than that of DATABASE_URL"
  return standby.standby ? null : "accepts writes, so it is no standby"
}

/** Whether it has applied everything, on the same timeline. After a failover, log positions of two timelines can't be compared. */
const isFresh = (bound: Bound, standby: Standby): boolean =>
  wrongStandby(bound, standby) === null && standby.applied && standby.timeline === bound.timeline

export type Preferred = <A, E, R>(
  onStandby: Effect.Effect<A, E, R>,
  onPrimary: Effect.Effect<A, E, R>
) => Effect.Effect<A, E, R>

export interface Standbys {
  /** The standby's client. Use it only inside `prefer`. */
  readonly client: Context.Context<SqlClient.SqlClient>
  /** Reads from the standby if that has everything committed so far, and otherwise, or if that fails, from the primary. */
  readonly prefer: Preferred
  /** Reads by who answered them. */
  readonly answered: () => { readonly standby: number; readonly primary: number }
  /** For the lines that a starting service prints. */
  readonly place: string
}

const identity = `(SELECT system_identifier::text FROM pg_control_system()) AS system,
  (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS database`

/** What the reads need of the two servers. A test's fake may replace it. */
export interface Looks {
  readonly bound: Effect.Effect<Bound, unknown>
  readonly standby: (lsn: string) => Effect.Effect<Standby, unknown>
}

const looksOf = (primary: SqlClient.SqlClient, replica: SqlClient.SqlClient) =>
  Effect.map(
    batch({
      name: "log position",
      max: 1_000,
      parallel: 1,
      flush: (requests: ReadonlyArray<null>) =>
        Effect.map(
          boundRow(primary`
            SELECT pg_current_wal_flush_lsn()::text AS lsn,
                   ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int AS timeline, ${primary.literal(identity)}`),
          (row) => requests.map(() => row)
        )
    }),
    (bound): Looks => ({
      bound: bound(null),
      standby: (lsn) =>
        standbyRow(replica`
          SELECT pg_is_in_recovery() AS standby, coalesce(pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn, false) AS applied,
                 (SELECT timeline_id FROM pg_control_checkpoint()) AS timeline, ${replica.literal(identity)}`)
    })
  )

/** Chooses who answers. */
export const preferring = (looks: Looks, restsFor = restMillis): Pick<Standbys, "prefer" | "answered"> => {
  const counts = { standby: 0, primary: 0 }
  let restUntil = 0
  const rest = Effect.map(Clock.currentTimeMillis, (now) => {
    restUntil = now + restsFor
  })
  const fresh = Effect.gen(function* () {
    if ((yield* Clock.currentTimeMillis) < restUntil) return false
    const bound = yield* looks.bound
    for (const pause of looksAfter) {
      if (pause > 0) yield* Effect.sleep(`${pause} millis`)
      const standby = yield* looks.standby(bound.lsn)
      if (isFresh(bound, standby)) return true
      if (wrongStandby(bound, standby) !== null) break
    }
    yield* rest
    return false
  }).pipe(
    Effect.timeout(`${lookMillisMax} millis`),
    Effect.catchCause((cause) =>
      Effect.andThen(Effect.logDebug(`the standby was not asked: ${oneLine(cause)}`), Effect.as(rest, false))
    )
  )
  const prefer: Preferred = (onStandby, onPrimary) => {
    const primary = Effect.suspend(() => {
      counts.primary += 1
      return onPrimary
    })
    const standby = Effect.tap(onStandby, () => Effect.sync(() => void (counts.standby += 1))).pipe(
      Effect.timeoutOption(`${readMillisMax} millis`),
      Effect.flatMap((answer) =>
        answer._tag === "Some" ? Effect.succeed(answer.value) : Effect.andThen(rest, primary)
      ),
      Effect.catchCause((cause) =>
        Effect.andThen(Effect.logDebug(`a read on the standby failed: ${oneLine(cause)}`), primary)
      )
    )
    return Effect.flatMap(fresh, (ready) => (ready ? standby : primary))
  }
  return { prefer, answered: () => ({ ...counts }) }
}

export class Replica extends Context.Service<
  Replica,
  { /** Null without DATABASE_READ_URL. */ readonly standby: Standbys | null }
>()("rungate/layers/standby/Replica") {
  /** For processes that answer no reads. */
  static readonly none = Layer.succeed(Replica, { standby: null })
  /** Refuses a server that is no standby of the primary. One that can't be reached may come back while the service runs. */
  static readonly layer = Layer.effect(
    Replica,
    Effect.gen(function* () {
      const { databaseReadUrl: url } = yield* Settings
      if (url === null) return { standby: null }
      const place = placeOf(url)
      const client = yield* Layer.build(yield* readClientOf(url))
      const looks = yield* looksOf(yield* SqlClient.SqlClient, Context.get(client, SqlClient.SqlClient))
      const bound = yield* looks.bound
      const wrong = yield* looks.standby(bound.lsn).pipe(
        Effect.map((standby) => wrongStandby(bound, standby)),
        Effect.timeout(`${startMillisMax} millis`),
        Effect.catchCause((cause) =>
          Effect.as(
            Effect.logWarning(
              `database: the standby of DATABASE_READ_URL at ${place} does not answer (${oneLine(cause)}). Until it does, the primary answers all reads.`
            ),
            null
          )
        )
      )
      if (wrong !== null) {
        return yield* new DatabaseRefused({
          message: `The server of DATABASE_READ_URL at ${place} ${wrong}. Point DATABASE_READ_URL at a streaming standby of the database of DATABASE_URL, or leave it unset.`
        })
      }
      return { standby: { client, place, ...preferring(looks) } }
    })
  )
}
