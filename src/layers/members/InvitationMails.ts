/**
 * The outbox of invitations: which of them have to be mailed, and the token of each link, which is created when its e-mail is sent.
 *
 * It is a part of the invitation's own row, because a process of an older release would not know what to do with another kind of row in the
 * table `mails`.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newLinkToken, tokenHash } from "../accounts/Secrets.ts"
import { Settings } from "../platform/Settings.ts"
import { done, oneRowOf, storedAs } from "../postgres/Rows.ts"

export const DueInvitation = Schema.Struct({
  invitation_id: Schema.String,
  org_id: Schema.String,
  email: Schema.String,
  /** Attempts to send this e-mail, the current one included. */
  attempts: Schema.Number
})
export type DueInvitation = typeof DueInvitation.Type
const dueRows = storedAs(DueInvitation.fields)

/** E-mails to one address per hour, of this kind and of others, so that nobody can flood a mailbox through this service. */
const sentPerHourMax = 5
/** As in Mails.ts: each further attempt waits twice as long. */
const claimSeconds = 60
const claimSecondsMax = 3_600
/** Days for which ended invitations are kept, for questions about who invited whom. */
const keepDays = 90

const countRow = oneRowOf({ sent: Schema.BigInt })

export const invitationsDue = "EXISTS (SELECT FROM member_invitations WHERE send_at <= now())"

export const makeInvitationMails = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { cell } = yield* Settings

  /** Creates the link's token. Null if the e-mail must wait, or the invitation has ended. */
  const token = Effect.fnUntraced(function* ({ invitation_id, org_id, email }: DueInvitation) {
    const { sent } = yield* countRow(sql`
      SELECT (SELECT count(*) FROM mails WHERE lower(address) = lower(${email}) AND outcome = 'sent' AND ended_at > now() - interval '1 hour')
           + (SELECT count(*) FROM member_invitations WHERE lower(email) = lower(${email}) AND sent_at > now() - interval '1 hour') AS sent`)
    if (sent >= BigInt(sentPerHourMax)) return null
    const token = newLinkToken(cell, "join", org_id)
    const rows = yield* sql`
      UPDATE member_invitations SET token_hash = ${tokenHash(token)}
      WHERE org_id = ${org_id} AND invitation_id = ${invitation_id} AND accepted_at IS NULL AND withdrawn_at IS NULL
        AND expires_at > now() RETURNING 1 AS changed`
    return rows.length === 0 ? null : token
  }, Effect.orDie)

  return {
    token,
    /** Claims invitations whose e-mail is due. No other process gets them until the claim expires. */
    due: (limit: number) =>
      dueRows.all(sql`
        UPDATE member_invitations i SET attempts = attempts + 1,
               send_at = now() + make_interval(secs => least(${claimSecondsMax}::float8, ${claimSeconds}::float8 * 2 ^ least(i.attempts, 10)))
        FROM (SELECT invitation_id FROM member_invitations WHERE send_at <= now() ORDER BY send_at LIMIT ${limit}
              FOR UPDATE SKIP LOCKED) claimed
        WHERE i.invitation_id = claimed.invitation_id
        RETURNING i.invitation_id, i.org_id, i.email, i.attempts`),
    /** The e-mail was sent, or it failed too often. */
    ended: ({ invitation_id, org_id }: DueInvitation, outcome: "sent" | "failed") =>
      done(sql`
        UPDATE member_invitations SET send_at = NULL, sent_at = CASE WHEN ${outcome} = 'sent' THEN now() END
        WHERE org_id = ${org_id} AND invitation_id = ${invitation_id}`),
    /** Deletes invitations that ended long ago. */
    forget: done(sql`
      DELETE FROM member_invitations WHERE least(expires_at, accepted_at, withdrawn_at) < now() - make_interval(days => ${keepDays})`)
  }
})
