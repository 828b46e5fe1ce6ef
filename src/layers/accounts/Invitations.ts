/**
 * Stores invitations to sign up. Each is for one e-mail address, works once, and expires after a week. Only the token's digest is
 * stored.
 *
 * The operator vouches for the address, so a user who signs up with an invitation counts as verified.
 */
import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newLinkToken, tokenHash } from "./Secrets.ts"
import { Settings } from "../platform/Settings.ts"
import { rowsOf, storedAs, textValues } from "../postgres/Rows.ts"

/** The token is unknown, used, expired, or for another address. One error for all four, so that it reveals nothing about tokens. */
export class InvitationRefused extends Schema.TaggedError<InvitationRefused>()("InvitationRefused", {}) {}

export interface NewInvitation {
  readonly email: string
  readonly token: Redacted.Redacted
  readonly expires_at: Date
}

export const InvitationRow = Schema.Struct({
  email: Schema.String,
  created_at: Schema.Date,
  expires_at: Schema.Date,
  used_at: Schema.NullOr(Schema.Date),
  /** The organization that the sign-up made. */
  org_id: Schema.NullOr(Schema.String)
})
export type InvitationRow = typeof InvitationRow.Type
const invitationRows = storedAs(InvitationRow.fields)

const days = 7

const expiryRows = rowsOf({ expires_at: Schema.Date })

export class Invitations extends Context.Service<
  Invitations,
  {
    /** None if the address already has an account. */
    readonly invite: (email: string) => Effect.Effect<Option.Option<NewInvitation>>
    /** Newest first, without their tokens. For operators. */
    readonly latest: (limit: number) => Effect.Effect<ReadonlyArray<InvitationRow>>
    /** The address that an invitation is for. None if it can't be redeemed any more. */
    readonly email: (token: Redacted.Redacted) => Effect.Effect<Option.Option<string>>
    /** Redeems an invitation for a new organization. Call it in the sign-up's transaction. */
    readonly redeem: (token: Redacted.Redacted, email: string, org_id: string) => Effect.Effect<void, InvitationRefused>
  }
>()("rungate/layers/accounts/Invitations") {
  static readonly layer = Layer.effect(
    Invitations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cell } = yield* Settings

      const email = (token: Redacted.Redacted) =>
        textValues(sql`
          SELECT email FROM invitations WHERE token_hash = ${tokenHash(token)} AND used_at IS NULL AND expires_at > now()`)

      return Invitations.of({
        invite: Effect.fnUntraced(function* (email) {
          const token = newLinkToken(cell, "invite", null)
          const [row] = yield* expiryRows(sql`
            INSERT INTO invitations (token_hash, email, expires_at)
            SELECT ${tokenHash(token)}, ${email}, now() + make_interval(days => ${days})
            WHERE NOT EXISTS (SELECT FROM users WHERE lower(email) = lower(${email}) AND NOT pending)
            RETURNING expires_at`)
          return Option.map(Option.fromNullishOr(row), ({ expires_at }) => ({ email, token, expires_at }))
        }, Effect.orDie),
        latest: (limit) =>
          invitationRows.all(sql`
            SELECT email, created_at, expires_at, used_at, org_id FROM invitations ORDER BY created_at DESC, email LIMIT ${limit}`),
        email: (token) => Effect.orDie(Effect.map(email(token), (rows) => Option.fromNullishOr(rows[0]))),
        redeem: Effect.fnUntraced(function* (token, address, org_id) {
          const rows = yield* Effect.orDie(sql`
            UPDATE invitations SET used_at = now(), org_id = ${org_id}
            WHERE token_hash = ${tokenHash(token)} AND lower(email) = lower(${address}) AND used_at IS NULL AND expires_at > now()
            RETURNING 1 AS redeemed`)
          if (rows.length === 0) return yield* new InvitationRefused()
        })
      })
    })
  )
}
