/**
 * Reads the event log of an organization: event streams and webhooks continue after the position that they reached.
 *
 * A log is kept from the first time somebody listens until nobody has listened for 30 days. Its events are kept for 30 days, as with
 * Stripe. EventWriter fills it.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { done, rowsOf, texts } from "../postgres/Rows.ts"
import { EventKind, eventJson } from "../../schema/events/Event.ts"
import { missingEvents } from "../../schema/events/RunEvents.ts"
import { eventId, unloggedId } from "./EventId.ts"
import { runStates } from "./RunStates.ts"

export interface LoggedEvent {
  /** Zero for an event that is not in the log. */
  readonly position: bigint
  /** `evt_…`, the same for every reader. */
  readonly id: string
  readonly kind: EventKind
  readonly run_id: string | null
  /** The API key of its run. Undefined if nobody asked for it. */
  readonly key_id?: string | null
  /** The JSON text `{type, timestamp, data}`. */
  readonly text: string
}

export interface Reading {
  /** In the order of their positions. */
  readonly events: ReadonlyArray<LoggedEvent>
  /** All events up to here were read: the next reading continues after it. */
  readonly position: bigint
  /** Events up to here were deleted. A reader that stopped before it has missed some. */
  readonly dropped: bigint
  /** Since when runs are logged; null without a log. */
  readonly began_at: Date | null
}

export interface Query {
  readonly org_id: string
  readonly after: bigint
  /** Only events of this run. */
  readonly run_id: string | null
  /** Only events of these kinds; null: all. */
  readonly kinds: ReadonlyArray<EventKind> | null
  /** Reads the API key of each event's run too. */
  readonly withKeys?: boolean
  readonly limit: number
}

export const keepDays = 30
const forgetMax = 5_000

const readingRows = rowsOf({
  head: Schema.BigInt,
  dropped: Schema.BigInt,
  began_at: Schema.NullOr(Schema.Date),
  position: Schema.NullOr(Schema.BigInt),
  kind: Schema.NullOr(EventKind),
  run_id: Schema.NullOr(Schema.String),
  key_id: Schema.NullOr(Schema.String),
  data: Schema.NullOr(Schema.String),
  happened_at: Schema.NullOr(Schema.Date)
})
const headRows = rowsOf({ org_id: Schema.String, position: Schema.BigInt })
const deletedRows = rowsOf({ deleted: Schema.BigInt })

export class EventLog extends Context.Service<
  EventLog,
  {
    /** Keeps a log of the organization from now on, for 30 days after the last call. Open runs are logged from their beginning. */
    readonly listen: (org_id: string) => Effect.Effect<void>
    readonly after: (query: Query) => Effect.Effect<Reading>
    /** The events of a run that ended before its organization had a log. Empty for a run of another organization. */
    readonly unlogged: (org_id: string, run_id: string) => Effect.Effect<ReadonlyArray<LoggedEvent>>
    /** The newest position of each log. */
    readonly heads: (org_ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, bigint>>
    /** Deletes events older than 30 days, and stops logs that nobody has listened to for as long. Returns the number of events. */
    readonly forget: Effect.Effect<number>
  }
>()("rungate/layers/events/EventLog") {
  static readonly layer = Layer.effect(
    EventLog,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const states = runStates(sql)

      const after = Effect.fnUntraced(function* ({ org_id, after, run_id, kinds, withKeys = false, limit }: Query) {
        const rows = yield* readingRows(sql`
          SELECT h.position AS head, h.dropped, h.began_at, e.position, e.kind, e.run_id,
                 ${withKeys ? sql`(SELECT r.key_id FROM runs r WHERE r.org_id = ${org_id} AND r.run_id = e.run_id LIMIT 1)` : sql`NULL::text`} AS key_id, e.data::text AS data, e.happened_at
          FROM event_heads h LEFT JOIN LATERAL (
            SELECT * FROM events l
            WHERE l.org_id = h.org_id AND l.position > ${after}
              ${run_id === null ? sql`` : sql`AND l.run_id = ${run_id}`}
              ${kinds === null ? sql`` : sql`AND l.kind = ANY(${texts(kinds)})`}
            ORDER BY l.position LIMIT ${limit}
          ) e ON true
          WHERE h.org_id = ${org_id} ORDER BY e.position`)
        const events = rows.flatMap(
          ({ position, kind, run_id: about, key_id, data, happened_at }): Array<LoggedEvent> => {
            if (position === null || kind === null || data === null || happened_at === null) return []
            const text = eventJson(kind, happened_at, data)
            return [
              { position, id: eventId(org_id, position), kind, run_id: about, text, ...(withKeys ? { key_id } : {}) }
            ]
          }
        )
        const { head = 0n, dropped = 0n, began_at = null } = rows[0] ?? {}
        const position = events.length < limit || limit === 0 ? head : (events.at(-1)?.position ?? head)
        return { events, position, dropped, began_at }
      })

      const heads = Effect.fnUntraced(function* (org_ids: ReadonlyArray<string>) {
        const rows = yield* headRows(sql`
          SELECT org_id, position FROM event_heads WHERE org_id = ANY(${texts(org_ids)})`)
        return new Map(rows.map(({ org_id, position }) => [org_id, position]))
      })

      return EventLog.of({
        listen: (org_id) =>
          done(sql`
            WITH kept AS (
              INSERT INTO event_heads AS h (org_id, ledger_seq, spent_day, spent, listened_at, began_at)
              SELECT org_id, entry_seq, spent_day, spent, now(), now() FROM wallets WHERE org_id = ${org_id}
              ON CONFLICT (org_id) DO UPDATE SET listened_at = now(), began_at = CASE WHEN h.listened_at IS NULL THEN now() ELSE h.began_at END
              WHERE h.listened_at IS NULL OR h.listened_at < now() - interval '1 hour'
              RETURNING org_id
            )
            INSERT INTO event_inbox (org_id, run_id)
            SELECT o.org_id, o.run_id FROM kept JOIN open_runs o USING (org_id)
            WHERE NOT EXISTS (SELECT FROM event_heads b WHERE b.org_id = o.org_id AND b.listened_at IS NOT NULL)`),
        after: (query) => Effect.orDie(after(query)),
        unlogged: Effect.fnUntraced(function* (org_id, run_id) {
          const [state] = yield* states(org_id, [run_id])
          if (state === undefined) return []
          return missingEvents(state, new Set(), state.finished_at ?? state.created_at).map(
            ({ kind, step, data, happened_at }): LoggedEvent => ({
              position: 0n,
              id: unloggedId(run_id, step ?? 0),
              kind,
              run_id,
              text: eventJson(kind, happened_at, JSON.stringify(data))
            })
          )
        }, Effect.orDie),
        heads: (org_ids) => (org_ids.length === 0 ? Effect.succeed(new Map()) : Effect.orDie(heads(org_ids))),
        forget: Effect.orDie(
          Effect.gen(function* () {
            const [row] = yield* deletedRows(sql`
              WITH old AS (
                SELECT org_id, position FROM events WHERE logged_at < now() - make_interval(days => ${keepDays})
                ORDER BY logged_at LIMIT ${forgetMax}
              ), deleted AS (
                DELETE FROM events e USING old WHERE e.org_id = old.org_id AND e.position = old.position RETURNING e.org_id, e.position
              ), noted AS (
                UPDATE event_heads h SET dropped = greatest(h.dropped, d.position)
                FROM (SELECT org_id, max(position) AS position FROM deleted GROUP BY org_id) d WHERE h.org_id = d.org_id
              )
              SELECT count(*) AS deleted FROM deleted`)
            // The events of the time without a log are missing, so nobody may continue before it.
            yield* sql`
              UPDATE event_heads SET listened_at = NULL, position = position + 1, dropped = position + 1
              WHERE listened_at < now() - make_interval(days => ${keepDays})`
            return Number(row?.deleted ?? 0n)
          })
        )
      })
    })
  )
}
