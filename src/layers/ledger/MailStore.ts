/**
 * Enqueues commands for wallets, in group commits, and reads their replies.
 *
 * A wallet's next turn applies each stored command exactly once, even if the process that enqueued it dies.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { jsons, oneNumber, rowsOf, storedAs, tableOf, texts } from "../postgres/Rows.ts"
import { batch } from "../postgres/Batch.ts"
import { diesIfMoved } from "../postgres/Elsewhere.ts"
import { storableText } from "../../schema/json/StorableText.ts"

export interface NewMail {
  /** Set when the sender waits for the reply; for credits, the reference that makes them unique. */
  readonly command_id: string | null
  readonly org_id: string
  readonly run_id: string | null
  readonly tag: "Settle" | "Cancel" | "Credit" | "Pay" | "AutoTopup" | "Approval"
  /** JSON text. */
  readonly payload: string
  /** JSON text that becomes the run's result; it does not travel through a turn. */
  readonly result: string | null
}

/** A lane with unapplied commands. `age_seconds` is the age of the oldest. */
export const Backlog = Schema.Struct({
  lane: Schema.Number,
  age_seconds: Schema.Number
})
export type Backlog = typeof Backlog.Type
const backlogRows = storedAs(Backlog.fields)

/** Commands in one INSERT. */
const mailMax = 200

const laneRows = rowsOf({ org_id: Schema.String, lane: Schema.Number })
const replyRows = rowsOf({ reply: Schema.Unknown })

/** Message of a run whose reservation was dead-lettered. */
const neverReserved =
  "the service could not admit this run; nothing was held or charged. Report its id to the operator."

const failureRows = rowsOf({
  dead_lettered: Schema.Boolean,
  command: Schema.String,
  ended: Schema.NullOr(Schema.String)
})

export class MailStore extends Context.Service<
  MailStore,
  {
    /** Stores a command and answers its wallet's lane, which the caller then wakes. Dies when the organization has no wallet. */
    readonly enqueue: (mail: NewMail) => Effect.Effect<number>
    /** The stored reply of a command; null when there is none yet. */
    readonly reply: (command_id: string) => Effect.Effect<unknown>
    /** Lanes whose oldest command is older than a second. */
    readonly backlog: Effect.Effect<ReadonlyArray<Backlog>>
    /**
     * Records that the oldest command of a lane failed alone, and dead-letters it after `failuresMax` failures. A run whose
     * reservation is dead-lettered ends as failed at once, because it holds no money. `ended` is that run's id, or null.
     */
    readonly recordFailure: (
      lane: number,
      failuresMax: number,
      why: string
    ) => Effect.Effect<{
      readonly fate: "kept" | "dead_lettered"
      readonly command: string
      readonly ended: string | null
    }>
    /** Number of dead-lettered commands: each failed alone too often, and no turn reads it again. */
    readonly deadLetters: Effect.Effect<number>
    /** Deletes replies older than an hour, and workers that died an hour ago and hold no run. */
    readonly forget: Effect.Effect<void>
  }
>()("rungate/layers/ledger/MailStore") {
  /** Whether a command has waited for longer than its wake-up takes. */
  static readonly due = () =>
    "EXISTS (SELECT FROM mailbox WHERE parked IS NULL AND created_at < now() - interval '1 second')"

  static readonly layer = Layer.effect(
    MailStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const enqueueBatch = yield* batch({
        name: "enqueue",
        max: mailMax,
        parallel: 1,
        flush: Effect.fnUntraced(function* (mail: ReadonlyArray<NewMail>) {
          const rows = yield* laneRows(sql`
            WITH new AS (
              SELECT * FROM ${tableOf("t", mail, { command_id: texts, org_id: texts, run_id: texts, tag: texts, payload: jsons, result: texts })}
            ), sent AS (
              INSERT INTO mailbox (lane, command_id, org_id, run_id, tag, payload, result)
              SELECT w.lane, n.command_id, n.org_id, n.run_id, n.tag, n.payload::json, n.result::json
              FROM new n JOIN wallets w ON w.org_id = n.org_id AND w.moving < 2
            )
            SELECT DISTINCT n.org_id, w.lane FROM new n JOIN wallets w ON w.org_id = n.org_id AND w.moving < 2`)
          const lanes = new Map(rows.map((row) => [row.org_id, row.lane]))
          return mail.map((one) => lanes.get(one.org_id) ?? null)
        })
      })

      return MailStore.of({
        // The batch does not fail: its statement has stored the other commands, and a retry would store them again.
        enqueue: Effect.fnUntraced(function* (mail) {
          const lane = yield* enqueueBatch(mail)
          if (lane !== null) return lane
          yield* diesIfMoved(sql, mail)
          return yield* Effect.die(new Error(`${mail.org_id} has no wallet, so its command was not enqueued.`))
        }, Effect.orDie),
        reply: Effect.fnUntraced(function* (command_id) {
          const [row] = yield* replyRows(sql`SELECT reply FROM replies WHERE command_id = ${command_id}`)
          return row?.reply ?? null
        }, Effect.orDie),
        backlog: backlogRows.all(sql`
          SELECT lane, extract(epoch FROM now() - min(created_at))::float8 AS age_seconds FROM mailbox
          WHERE parked IS NULL GROUP BY lane HAVING min(created_at) < now() - interval '1 second'`),
        recordFailure: Effect.fnUntraced(function* (lane, failuresMax, why) {
          const [row] = yield* failureRows(sql`
            WITH failed AS (
              UPDATE mailbox SET attempts = attempts + 1, parked = CASE WHEN attempts + 1 >= ${failuresMax} THEN ${storableText(why)}::text END
              WHERE lane = ${lane} AND id = (SELECT min(id) FROM mailbox WHERE lane = ${lane} AND parked IS NULL)
              RETURNING id, org_id, run_id, tag, parked IS NOT NULL AS dead_lettered
            ), ended AS (
              UPDATE runs_recent r SET status = 'failed', error_code = 'internal_error', error_message = ${neverReserved}::text, finished_at = now()
              FROM failed f
              WHERE f.dead_lettered AND f.tag = 'Reserve' AND r.org_id = f.org_id AND r.run_id = f.run_id AND r.finished_at IS NULL
                AND NOT EXISTS (SELECT FROM open_runs o WHERE o.run_id = r.run_id)
              RETURNING r.org_id, r.run_id
            ), indexed AS (
              INSERT INTO history_queue (org_id, run_ids) SELECT org_id, ARRAY[run_id] FROM ended
            ), unbooked AS (
              INSERT INTO event_inbox (org_id, run_id) SELECT org_id, run_id FROM ended JOIN event_heads USING (org_id)
              WHERE listened_at IS NOT NULL
            )
            SELECT dead_lettered, tag || ' ' || id || ' of ' || coalesce(run_id, org_id) AS command, (SELECT run_id FROM ended) AS ended FROM failed`)
          if (row === undefined) return { fate: "kept" as const, command: "none", ended: null }
          return {
            fate: row.dead_lettered ? ("dead_lettered" as const) : ("kept" as const),
            command: row.command,
            ended: row.ended
          }
        }, Effect.orDie),
        deadLetters: Effect.orDie(oneNumber(sql`SELECT count(*)::int FROM mailbox WHERE parked IS NOT NULL`)),
        forget: Effect.orDie(
          Effect.gen(function* () {
            yield* sql`DELETE FROM replies WHERE created_at < now() - interval '1 hour'`
            yield* sql`
              DELETE FROM workers w WHERE expires_at < now() - interval '1 hour'
                AND NOT EXISTS (SELECT FROM open_runs o WHERE o.worker_id = w.worker_id)`
          })
        )
      })
    })
  )
}
