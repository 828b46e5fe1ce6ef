/**
 * The outbox of e-mails about alerts. The step that appends an alert to the event log stores its e-mails in the same transaction, so an
 * alert is mailed once, up to a process that dies between sending and recording it.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { jsons, texts } from "../postgres/Columns.ts"
import { rowsOf } from "../postgres/Rows.ts"
import { alertKinds, type AlertKind } from "../../schema/events/AlertMail.ts"
import type { NewEvent } from "../../schema/events/Event.ts"

/** Members who are told, oldest first. */
const recipientsMax = 20
/** E-mails to one organization per day, so that a balance around its threshold fills no mailbox. The event log has every alert. */
const perDayMax = 40
const claimSeconds = 60
const claimSecondsMax = 3_600
const keepDays = 7

export const DueAlert = Schema.Struct({
  mail_id: Schema.BigInt,
  kind: Schema.Literals(alertKinds),
  data: Schema.Unknown,
  address: Schema.String,
  /** Attempts to send this e-mail, the current one included. */
  attempts: Schema.Number
})
export type DueAlert = typeof DueAlert.Type
const dueRows = rowsOf(DueAlert.fields)

const isAlert = (kind: string): kind is AlertKind => alertKinds.some((one) => one === kind)

export class AlertMailStore extends Context.Service<
  AlertMailStore,
  {
    /** Stores e-mails to the organization's members for the alerts among these events. Runs in the caller's transaction. */
    readonly queue: (org_id: string, events: ReadonlyArray<NewEvent>) => Effect.Effect<void, SqlError.SqlError>
    /** Claims e-mails that are due. No other process gets them until the claim expires. */
    readonly due: (limit: number) => Effect.Effect<ReadonlyArray<DueAlert>>
    readonly ended: (mail_id: bigint, outcome: "sent" | "failed") => Effect.Effect<void>
    /** Deletes old e-mails that were sent or given up. */
    readonly forget: Effect.Effect<void>
  }
>()("rungate/layers/events/AlertMailStore") {
  static readonly layer = Layer.effect(
    AlertMailStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const queue = (org_id: string, events: ReadonlyArray<NewEvent>) => {
        const alerts = events.filter(({ kind }) => isAlert(kind))
        // Of several parts of a limit that were reached at once, the highest is mailed.
        const mailed = alerts.filter(
          ({ kind }, index) => kind !== "budget.reached" || alerts.findLastIndex((one) => one.kind === kind) === index
        )
        if (mailed.length === 0) return Effect.void
        return Effect.asVoid(sql`
          INSERT INTO alert_mails (org_id, kind, data, address)
          SELECT ${org_id}, n.kind, n.data::json, u.email
          FROM unnest(${texts(mailed.map(({ kind }) => kind))}, ${jsons(mailed.map(({ data }) => JSON.stringify(data)))}) AS n(kind, data),
               (SELECT email FROM users WHERE org_id = ${org_id} AND NOT pending ORDER BY user_id LIMIT ${recipientsMax}) u
          WHERE (SELECT count(*) FROM alert_mails WHERE org_id = ${org_id} AND created_at > now() - interval '1 day') < ${perDayMax}`)
      }

      const due = (limit: number) =>
        dueRows(sql`
        UPDATE alert_mails m SET attempts = attempts + 1,
               send_at = now() + make_interval(secs => least(${claimSecondsMax}::float8, ${claimSeconds}::float8 * 2 ^ least(m.attempts, 10)))
        FROM (SELECT mail_id FROM alert_mails WHERE ended_at IS NULL AND send_at <= now() ORDER BY send_at LIMIT ${limit}
              FOR UPDATE SKIP LOCKED) claimed
        WHERE m.mail_id = claimed.mail_id
        RETURNING m.mail_id, m.kind, m.data, m.address, m.attempts`)

      const ended = (mail_id: bigint, outcome: string) => sql`
        UPDATE alert_mails SET ended_at = now(), outcome = ${outcome} WHERE mail_id = ${mail_id} AND ended_at IS NULL`
      const forget = sql`DELETE FROM alert_mails WHERE ended_at < now() - make_interval(days => ${keepDays})`

      return AlertMailStore.of({
        queue,
        due: (limit) => Effect.orDie(due(limit)),
        ended: (mail_id, outcome) => Effect.asVoid(Effect.orDie(ended(mail_id, outcome))),
        forget: Effect.asVoid(Effect.orDie(forget))
      })
    })
  )
}
