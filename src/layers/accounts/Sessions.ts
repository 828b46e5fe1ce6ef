/**
 * A user's open sessions, in all of the user's organizations.
 *
 * A session's id is a digest of the digest that is stored of its token. It tells sessions apart, and nobody can compute the token, or what is
 * stored of it, from the id.
 */
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { storedAs } from "../postgres/Rows.ts"
import { tokenHash } from "./Secrets.ts"

export const OpenSessionRow = Schema.Struct({
  id: Schema.String,
  org_id: Schema.String,
  organization: Schema.String,
  created_at: Schema.Date,
  expires_at: Schema.Date,
  /** The session that asks. */
  current: Schema.Boolean
})
export type OpenSessionRow = typeof OpenSessionRow.Type
const sessions = storedAs(OpenSessionRow.fields)
const ended = storedAs({ current: Schema.Boolean })

const prefix = "ses_"
const idForm = /^ses_[0-9a-f]{32}$/

/** More would be of programs that sign in again and again. */
const sessionsMax = 200

export class Sessions extends Context.Service<
  Sessions,
  {
    /** Newest first, at most 200. `token` is that of the session that asks. */
    readonly list: (user_id: string, token: Redacted.Redacted) => Effect.Effect<ReadonlyArray<OpenSessionRow>>
    /** Ends one session of the user. Null if the user has no such session. */
    readonly end: (
      user_id: string,
      id: string,
      token: Redacted.Redacted
    ) => Effect.Effect<{ readonly current: boolean } | null>
  }
>()("rungate/layers/accounts/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const idOf = sql.literal(`'${prefix}' || encode(substring(sha256(token_hash) FROM 1 FOR 16), 'hex')`)

      return Sessions.of({
        list: (user_id, token) =>
          sessions.all(sql`
            SELECT ${idOf} AS id, org_id, o.name AS organization, s.created_at, s.expires_at, s.token_hash = ${tokenHash(token)} AS current
            FROM sessions s JOIN orgs o USING (org_id)
            WHERE s.user_id = ${user_id} AND s.ended_at IS NULL AND s.expires_at > now()
            ORDER BY s.created_at DESC, s.token_hash LIMIT ${sessionsMax}`),
        end: (user_id, id, token) =>
          idForm.test(id)
            ? ended.first(sql`
                UPDATE sessions SET ended_at = now()
                WHERE user_id = ${user_id} AND ended_at IS NULL AND expires_at > now() AND ${idOf} = ${id}
                RETURNING token_hash = ${tokenHash(token)} AS current`)
            : Effect.succeed(null)
      })
    })
  )
}
