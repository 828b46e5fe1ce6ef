/**
 * What the outboxes of e-mails to members share: claiming what is due, noting how it ended, and deleting old rows.
 *
 * Each outbox is a table of its own, because a process claims every row of a table and must know all kinds of e-mails in it.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf } from "../postgres/Rows.ts"

const claimSeconds = 60
const claimSecondsMax = 3_600
const keepDays = 7

export interface DueMail<Kind extends string> {
  readonly mail_id: bigint
  readonly kind: Kind
  readonly data: unknown
  readonly address: string
  /** False for a person who has left the organization since: nothing of it may be sent there. */
  readonly is_member: boolean
  /** Attempts to send this e-mail, the current one included. */
  readonly attempts: number
}

export interface Outbox<Kind extends string> {
  /** Claims e-mails that are due. No other process gets them until the claim expires. */
  readonly due: (limit: number) => Effect.Effect<ReadonlyArray<DueMail<Kind>>>
  /** Whether an e-mail is due, as an SQL condition. */
  readonly anyDue: () => string
  readonly ended: (mail_id: bigint, outcome: "sent" | "failed") => Effect.Effect<void>
  /** Deletes old e-mails that were sent or given up. */
  readonly forget: Effect.Effect<void>
}

export const mailOutbox = <const Kinds extends ReadonlyArray<string>>(
  sql: SqlClient.SqlClient,
  name: "alert_mails" | "webhook_mails",
  kinds: Kinds
): Outbox<Kinds[number]> => {
  const table = sql.literal(name)
  const isDue = "ended_at IS NULL AND send_at <= now()"
  const dueRows = rowsOf({
    mail_id: Schema.BigInt,
    kind: Schema.Literals(kinds),
    data: Schema.Unknown,
    address: Schema.String,
    is_member: Schema.Boolean,
    attempts: Schema.Number
  })
  const due = (limit: number) =>
    dueRows(sql`
      UPDATE ${table} m SET attempts = attempts + 1,
             send_at = now() + make_interval(secs => least(${claimSecondsMax}::float8, ${claimSeconds}::float8 * 2 ^ least(m.attempts, 10)))
      FROM (SELECT mail_id FROM ${table} WHERE ${sql.literal(isDue)} ORDER BY send_at LIMIT ${limit}
            FOR UPDATE SKIP LOCKED) claimed
      WHERE m.mail_id = claimed.mail_id
      RETURNING m.mail_id, m.kind, m.data, m.address, m.attempts,
        EXISTS (SELECT FROM members JOIN users USING (user_id) WHERE members.org_id = m.org_id AND email = m.address) AS is_member`)
  const ended = (mail_id: bigint, outcome: string) => sql`
    UPDATE ${table} SET ended_at = now(), outcome = ${outcome} WHERE mail_id = ${mail_id} AND ended_at IS NULL`
  const forget = sql`DELETE FROM ${table} WHERE ended_at < now() - make_interval(days => ${keepDays})`
  return {
    due: (limit) => Effect.orDie(due(limit)),
    anyDue: () => `EXISTS (SELECT FROM ${name} WHERE ${isDue})`,
    ended: (mail_id, outcome) => Effect.asVoid(Effect.orDie(ended(mail_id, outcome))),
    forget: Effect.asVoid(Effect.orDie(forget))
  }
}
