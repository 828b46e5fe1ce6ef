/**
 * The outbox of e-mails about webhook endpoints that the service has paused. They go to the organization's owners and admins, who can
 * resume the endpoint. The transaction that pauses an endpoint stores them, so each pause is mailed once.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { mailOutbox, type Outbox } from "../events/mailOutbox.ts"
import { type PausedWebhook, pauseMailKinds } from "../../schema/webhooks/PauseMail.ts"

/** Members who are told, oldest first. */
const recipientsMax = 20
/** E-mails to one organization per day, for an endpoint that is resumed and fails again and again. */
const perDayMax = 40

export class PauseMails extends Context.Service<
  PauseMails,
  Outbox<(typeof pauseMailKinds)[number]> & {
    /** Runs in the transaction that pauses the endpoint. */
    readonly queue: (org_id: string, paused: PausedWebhook) => Effect.Effect<void, SqlError.SqlError>
  }
>()("rungate/layers/webhooks/PauseMails") {
  static readonly layer = Layer.effect(
    PauseMails,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const queue = (org_id: string, paused: PausedWebhook) =>
        Effect.asVoid(sql`
          INSERT INTO webhook_mails (org_id, kind, data, address)
          SELECT ${org_id}, 'webhook.paused', ${JSON.stringify(paused)}::json, u.email
          FROM members m JOIN users u USING (user_id)
          WHERE m.org_id = ${org_id} AND m.role IN ('owner', 'admin') AND NOT u.pending
            AND (SELECT count(*) FROM webhook_mails WHERE org_id = ${org_id} AND created_at > now() - interval '1 day') < ${perDayMax}
          ORDER BY m.user_id LIMIT ${recipientsMax}`)

      return PauseMails.of({ ...mailOutbox(sql, "webhook_mails", pauseMailKinds), queue })
    })
  )
}
