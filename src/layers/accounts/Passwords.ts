/**
 * Changes passwords, and redeems the links of e-mails: verify an address, set a new password. Each token works once.
 *
 * A changed password ends sessions in the same transaction. A sign-in that verified the old password can't open a session afterwards (Accounts.ts).
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { digest, hashed, matches } from "./Secrets.ts"
import { rowsOf } from "../postgres/Rows.ts"

/** Unknown, used or expired. */
export class LinkRefused extends Schema.TaggedError<LinkRefused>()("LinkRefused", {}) {}
/** Somebody has verified the address for another account meanwhile. */
export class AddressTaken extends Schema.TaggedError<AddressTaken>()("AddressTaken", {}) {}
export class WrongPassword extends Schema.TaggedError<WrongPassword>()("WrongPassword", {}) {}

const userIdRows = rowsOf({ user_id: Schema.String })
const emailRows = rowsOf({ email: Schema.String })
const passwordRows = rowsOf({ password_hash: Schema.String })

export class Passwords extends Context.Service<
  Passwords,
  {
    /** Answers the address. */
    readonly verifyEmail: (token: Redacted.Redacted) => Effect.Effect<string, LinkRefused | AddressTaken>
    /** Ends all other sessions of the user. */
    readonly change: (
      session: { readonly user_id: string; readonly token: Redacted.Redacted },
      current: Redacted.Redacted,
      next: Redacted.Redacted
    ) => Effect.Effect<void, WrongPassword>
    /** Ends all sessions of the user. Answers the address. */
    readonly reset: (token: Redacted.Redacted, next: Redacted.Redacted) => Effect.Effect<string, LinkRefused>
    /** Ends all sessions of a user, and answers how many. */
    readonly endSessions: (user_id: string) => Effect.Effect<number>
  }
>()("rungate/layers/accounts/Passwords") {
  static readonly layer = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const hashOf = (token: Redacted.Redacted) => digest(Redacted.value(token))

      /** Uses a link up; in a transaction that fails, it stays. */
      const consume = Effect.fnUntraced(function* (token: Redacted.Redacted, purpose: string) {
        // The user first: two links of one user would wait for each other's tokens.
        yield* sql`
          SELECT 1 AS locked FROM users
          WHERE user_id = (SELECT user_id FROM mail_tokens WHERE token_hash = ${hashOf(token)}) FOR UPDATE`
        const [row] = yield* userIdRows(sql`
          DELETE FROM mail_tokens WHERE token_hash = ${hashOf(token)} AND purpose = ${purpose} AND expires_at > now()
          RETURNING user_id`)
        return row === undefined ? yield* new LinkRefused() : row.user_id
      })

      /**
       * A referral is for people who are new. A sign-up that is to be verified can't be told that its address has an account, so this is
       * decided when the address is verified. Two spellings of one address at once: the second waits and sees the first.
       */
      const keepReferralOfNewcomer = Effect.fnUntraced(function* (user_id: string) {
        yield* sql`
          SELECT pg_advisory_xact_lock(hashtextextended('referral ' || email_identity(email), 0)) FROM users WHERE user_id = ${user_id}`
        yield* sql`
          DELETE FROM referrals r USING users me
          WHERE me.user_id = ${user_id} AND r.referred_org = me.org_id AND r.bonus_state = 'pending' AND r.credits = 0
            AND EXISTS (SELECT FROM users u WHERE NOT u.pending AND u.org_id <> me.org_id
                          AND email_identity(u.email) = email_identity(me.email))`
      })

      const verifyEmail = Effect.fn("Passwords.verifyEmail")(function* (token: Redacted.Redacted) {
        return yield* sql
          .withTransaction(
            Effect.gen(function* () {
              const user_id = yield* consume(token, "verify_email")
              yield* keepReferralOfNewcomer(user_id)
              const [user] = yield* emailRows(sql`
                UPDATE users SET pending = false, email_verified_at = now() WHERE user_id = ${user_id} AND pending RETURNING email`)
              if (user === undefined) return yield* new LinkRefused()
              yield* sql`DELETE FROM mail_tokens WHERE user_id = ${user_id} AND purpose = 'verify_email'`
              return user.email
            })
          )
          .pipe(
            Effect.catchReason("SqlError", "UniqueViolation", () => Effect.fail(new AddressTaken())),
            Effect.catchTag("SqlError", Effect.die)
          )
      })

      const end = (user_id: string, but: Redacted.Redacted | null) => sql`
        UPDATE sessions SET ended_at = now()
        WHERE user_id = ${user_id} AND ended_at IS NULL AND expires_at > now()
          AND token_hash IS DISTINCT FROM ${but === null ? null : hashOf(but)}::bytea
        RETURNING 1 AS ended`

      const change = Effect.fn("Passwords.change")(function* (
        { user_id, token }: { readonly user_id: string; readonly token: Redacted.Redacted },
        current: Redacted.Redacted,
        next: Redacted.Redacted
      ) {
        const [user] = yield* Effect.orDie(
          passwordRows(sql`SELECT password_hash FROM users WHERE user_id = ${user_id}`)
        )
        const hash = user?.password_hash ?? ""
        if (!(yield* matches(current, hash))) return yield* new WrongPassword()
        const password_hash = yield* hashed(next)
        yield* sql
          .withTransaction(
            Effect.gen(function* () {
              // Of two changes at once one holds, and the other's password is no longer the current one.
              const changed = yield* sql`
                UPDATE users SET password_hash = ${password_hash} WHERE user_id = ${user_id} AND password_hash = ${hash} RETURNING 1 AS changed`
              if (changed.length === 0) return yield* new WrongPassword()
              yield* end(user_id, token)
              yield* sql`DELETE FROM mail_tokens WHERE user_id = ${user_id} AND purpose = 'reset_password'`
            })
          )
          .pipe(Effect.catchTag("SqlError", Effect.die))
      })

      const reset = Effect.fn("Passwords.reset")(function* (token: Redacted.Redacted, next: Redacted.Redacted) {
        // A look before the expensive part: a token that is made up costs no hash.
        const known = yield* Effect.orDie(sql`
          SELECT 1 AS known FROM mail_tokens WHERE token_hash = ${hashOf(token)} AND purpose = 'reset_password' AND expires_at > now()`)
        if (known.length === 0) return yield* new LinkRefused()
        const password_hash = yield* hashed(next)
        return yield* sql
          .withTransaction(
            Effect.gen(function* () {
              const user_id = yield* consume(token, "reset_password")
              const [user] = yield* emailRows(sql`
                UPDATE users SET password_hash = ${password_hash}, email_verified_at = coalesce(email_verified_at, now())
                WHERE user_id = ${user_id} AND NOT pending RETURNING email`)
              if (user === undefined) return yield* new LinkRefused()
              yield* end(user_id, null)
              yield* sql`DELETE FROM mail_tokens WHERE user_id = ${user_id} AND purpose = 'reset_password'`
              return user.email
            })
          )
          .pipe(Effect.catchTag("SqlError", Effect.die))
      })

      return Passwords.of({
        verifyEmail,
        change,
        reset,
        endSessions: (user_id) => Effect.orDie(Effect.map(end(user_id, null), (rows) => rows.length))
      })
    })
  )
}
