/**
 * Sessions of operators in the web console. `rungate admin console` makes a link, and whoever opens it first gets a session.
 *
 * Links and sessions are stored as digests. A session has no row in `sessions`, so no door of a customer accepts its token, and no door of
 * an operator accepts a customer's.
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { markPattern } from "../../schema/accounts/TokenText.ts"
import { newLinkToken, newToken, tokenHash } from "../accounts/Secrets.ts"
import { AuditLog } from "../auditlog/AuditLog.ts"
import { newId } from "../platform/Ids.ts"
import { Settings } from "../platform/Settings.ts"
import { done, oneRowOf, rowsOf } from "../postgres/Rows.ts"

/** Long enough to copy a link from a terminal into a browser. */
export const linkMinutes = 10
/** A working day. */
const sessionHours = 8
/** Rows of links and sessions are kept so long after their end. The audit log keeps what they did. */
const keptDays = 30

/** The form of an operator's session token. */
const tokenForm = new RegExp(`^rg_oper_${markPattern}[0-9A-Za-z]{43}$`)

export const OperatorSession = Schema.Struct({
  session_id: Schema.String,
  /** The user of the operating system who printed the link. */
  operator: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  expires_at: Schema.Date
})
export type OperatorSession = typeof OperatorSession.Type
const sessionRows = rowsOf(OperatorSession.fields)
const linkRows = rowsOf({ operator: Schema.NullOr(Schema.String) })
const expiryRow = oneRowOf({ expires_at: Schema.Date })

export interface NewLink {
  readonly token: Redacted.Redacted
  readonly expires_at: Date
}

export interface NewOperatorSession {
  readonly token: Redacted.Redacted
  readonly session: OperatorSession
}

export class OperatorSessions extends Context.Service<
  OperatorSessions,
  {
    /** Makes a sign-in link in the name of an operator, and deletes old rows. Call it on behalf of that operator. */
    readonly makeLink: (operator: string | null) => Effect.Effect<NewLink>
    /** Uses a link up and opens its session. Null if the link is unknown, used or expired. `address` is the client's, for the audit log. */
    readonly open: (link: Redacted.Redacted, address: string) => Effect.Effect<NewOperatorSession | null>
    /** The session of a token. Null if it is unknown, has ended or has expired. */
    readonly find: (token: Redacted.Redacted) => Effect.Effect<OperatorSession | null>
    readonly end: (session_id: string) => Effect.Effect<void>
  }
>()("rungate/layers/operator/OperatorSessions") {
  static readonly layer = Layer.effect(
    OperatorSessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cell } = yield* Settings
      const log = yield* AuditLog

      // The update waits for another one of the same link, and then finds it used.
      const use = (link: Redacted.Redacted, token: Redacted.Redacted) =>
        sessionRows(sql`
          WITH used AS (
            UPDATE operator_links SET used_at = now()
            WHERE token_hash = ${tokenHash(link)} AND used_at IS NULL AND expires_at > now() RETURNING link_id, operator)
          INSERT INTO operator_sessions (session_id, link_id, token_hash, operator, expires_at)
          SELECT ${newId("ops")}, link_id, ${tokenHash(token)}, operator, now() + make_interval(hours => ${sessionHours}) FROM used
          RETURNING session_id, operator, created_at, expires_at`)

      return OperatorSessions.of({
        makeLink: Effect.fn("OperatorSessions.makeLink")(function* (operator) {
          yield* sql`DELETE FROM operator_sessions WHERE expires_at < now() - make_interval(days => ${keptDays})`
          yield* sql`
            DELETE FROM operator_links l WHERE expires_at < now() - make_interval(days => ${keptDays})
              AND NOT EXISTS (SELECT FROM operator_sessions s WHERE s.link_id = l.link_id)`
          const token = newLinkToken(cell, "operator", null)
          const { expires_at } = yield* expiryRow(sql`
            INSERT INTO operator_links (link_id, token_hash, operator, expires_at)
            VALUES (${newId("opl")}, ${tokenHash(token)}, ${operator}, now() + make_interval(mins => ${linkMinutes}))
            RETURNING expires_at`)
          return { token, expires_at }
        }, Effect.orDie),
        open: Effect.fn("OperatorSessions.open")(function* (link, address) {
          const [printed] = yield* linkRows(
            sql`SELECT operator FROM operator_links WHERE token_hash = ${tokenHash(link)}`
          )
          if (printed === undefined) return null
          const token = Redacted.make(newToken(cell, "oper", null))
          const actor = { kind: "operator", id: null, name: printed.operator, address } as const
          const [session] = yield* log.by(actor)(use(link, token))
          return session === undefined ? null : { token, session }
        }, Effect.orDie),
        find: Effect.fnUntraced(function* (token) {
          if (!tokenForm.test(Redacted.value(token))) return null
          const [session] = yield* sessionRows(sql`
            SELECT session_id, operator, created_at, expires_at FROM operator_sessions
            WHERE token_hash = ${tokenHash(token)} AND ended_at IS NULL AND expires_at > now()`)
          return session ?? null
        }, Effect.orDie),
        end: (session_id) =>
          done(sql`UPDATE operator_sessions SET ended_at = now() WHERE session_id = ${session_id} AND ended_at IS NULL`)
      })
    })
  )
}
