/**
 * Erases what events of runs quote, in the event log and in deliveries of webhooks: details of attempts and messages of errors.
 *
 * Each event keeps its id, its kind and its time, and says what the erased run says.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { EventKind, eventJson } from "../../schema/events/Event.ts"
import { missingEvents } from "../../schema/events/RunEvents.ts"
import { eventId } from "../events/EventId.ts"
import { keepDays } from "../events/EventLog.ts"
import { runStates } from "../events/RunStates.ts"
import { ints, rowsOf, tableOf, texts } from "../postgres/Rows.ts"

const changedRows = rowsOf({
  position: Schema.BigInt,
  kind: EventKind,
  happened_at: Schema.Date,
  data: Schema.String
})

/** Runs in the transaction that erases the runs, after them. */
export const eraseEvents = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  org_id: string,
  run_ids: ReadonlyArray<string>
) {
  // Whoever appends events meanwhile ends before this, or reads erased runs.
  const heads = yield* sql`SELECT FROM event_heads WHERE org_id = ${org_id} FOR UPDATE`
  if (heads.length === 0) return
  // Of events that are deleted: an endpoint that was paused for long is still sent them. Nothing tells any more what they would say now.
  yield* sql`
    DELETE FROM webhook_deliveries d USING webhook_endpoints w
    WHERE w.org_id = ${org_id} AND d.endpoint_id = w.endpoint_id AND d.happened_at < now() - make_interval(days => ${keepDays}::int)
      AND d.body::json #>> '{data,run_id}' = ANY(${texts(run_ids)})`
  const runs = yield* runStates(sql)(org_id, run_ids)
  const events = runs.flatMap((run) => missingEvents(run, new Set(), run.created_at))
  const changed = yield* changedRows(sql`
    UPDATE events e SET data = n.data::json
    FROM ${tableOf("n", events, { run_id: texts, step: ints }, { data: texts(events.map(({ data }) => JSON.stringify(data))) })}
    WHERE e.org_id = ${org_id} AND e.run_id = n.run_id AND e.step = n.step AND e.data::text <> n.data
    RETURNING e.position, e.kind, e.happened_at, n.data`)
  if (changed.length === 0) return
  const rewrite = sql`
    UPDATE webhook_deliveries d SET body = n.body
    FROM webhook_endpoints w, unnest(${texts(changed.map(({ position }) => eventId(org_id, position)))},
                ${texts(changed.map(({ kind, happened_at, data }) => eventJson(kind, happened_at, data)))}) AS n(event_id, body)
    WHERE w.org_id = ${org_id} AND d.endpoint_id = w.endpoint_id AND d.event_id = n.event_id AND d.body <> n.body`
  yield* rewrite
  // A fan-out that read the events before this transaction has ended then. Deliveries come first, as when an answer is recorded.
  yield* sql`SELECT FROM webhook_endpoints WHERE org_id = ${org_id} ORDER BY endpoint_id FOR UPDATE`
  yield* rewrite
})
