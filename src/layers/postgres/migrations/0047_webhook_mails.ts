/**
 * The outbox of e-mails about webhook endpoints that were paused.
 *
 * It is a table of its own, because a process of an older release claims every row of `alert_mails` and can't read this kind of e-mail.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const webhookMails = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE webhook_mails (
      mail_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      org_id text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('webhook.paused')),
      data json NOT NULL,
      address text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      send_at timestamptz NOT NULL DEFAULT now(),
      attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
      ended_at timestamptz,
      outcome text CHECK (outcome IN ('sent', 'failed')),
      CONSTRAINT webhook_mail_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
    )`
  yield* sql`CREATE INDEX webhook_mails_due ON webhook_mails (send_at) WHERE ended_at IS NULL`
  yield* sql`CREATE INDEX webhook_mails_org ON webhook_mails (org_id, created_at)`
})
