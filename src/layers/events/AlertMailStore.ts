/**
 * The outbox of e-mails about alerts. The step that appends an alert to the event log stores its e-mails in the same transaction, so an
 * alert is mailed once, up to a process that dies between sending and recording it.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { jsons, texts } from "../postgres/Rows.ts"
import { alertKinds, type AlertKind } from "../../schema/events/AlertMail.ts"
import type { NewEvent } from "../../schema/events/Event.ts"
import { mailOutbox, type Outbox } from "./mailOutbox.ts"

/** Members who are told, oldest first. */
const recipientsMax = 20
/** E-mails to one organization per day, so that a balance around its threshold fills no mailbox. The event log has every alert. */
const perDayMax = 40

const isAlert = (kind: string): kind is AlertKind => alertKinds.some((one) => one === kind)

/** Where the limit is changed that an alert is about, which tells limits apart. Null for other alerts. */
const limitOf = ({ kind, data }: NewEvent): unknown =>
  kind === "budget.reached" && "manage" in data ? data.manage : null

export class AlertMailStore extends Context.Service<
  AlertMailStore,
  Outbox<AlertKind> & {
    /** Stores e-mails to the organization's members for the alerts among these events. Runs in the caller's transaction. */
    readonly queue: (org_id: string, events: ReadonlyArray<NewEvent>) => Effect.Effect<void, SqlError.SqlError>
  }
>()("rungate/layers/events/AlertMailStore") {
  static readonly layer = Layer.effect(
    AlertMailStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const queue = (org_id: string, events: ReadonlyArray<NewEvent>) => {
        const alerts = events.filter(({ kind }) => isAlert(kind))
        // Of several parts of one limit that were reached at once, the highest is mailed.
        const mailed = alerts.filter((alert, index) => {
          const limit = limitOf(alert)
          return limit === null || alerts.findLastIndex((one) => limitOf(one) === limit) === index
        })
        if (mailed.length === 0) return Effect.void
        return Effect.asVoid(sql`
          INSERT INTO alert_mails (org_id, kind, data, address)
          SELECT ${org_id}, kind, data, email FROM (SELECT n.kind, n.data::json AS data, u.email,
            row_number() OVER (PARTITION BY n.kind = 'run.approval_required' ORDER BY n.place) AS nth
          FROM unnest(${texts(mailed.map(({ kind }) => kind))}, ${jsons(mailed.map(({ data }) => JSON.stringify(data)))}) WITH ORDINALITY AS n(kind, data, place),
               LATERAL (SELECT email FROM members JOIN users USING (user_id)
                        WHERE members.org_id = ${org_id} AND NOT pending AND (n.kind <> 'run.approval_required' OR may_decide(role, n.data::json ->> 'role'))
                        ORDER BY user_id LIMIT ${recipientsMax}) u) n
          -- Runs that wait leave room for the other alerts, and those for them.
          WHERE nth + (SELECT count(*) FROM alert_mails m WHERE m.org_id = ${org_id} AND m.created_at > now() - interval '1 day'
                   AND (m.kind = 'run.approval_required') = (n.kind = 'run.approval_required')) <= ${perDayMax}`)
      }

      return AlertMailStore.of({ ...mailOutbox(sql, "alert_mails", alertKinds), queue })
    })
  )
}
