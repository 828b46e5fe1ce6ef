/**
 * Changes passwords, and redeems the links of e-mails that verify an address or set a new password. Each link works once.
 *
 * A changed password ends sessions in the same transaction. A sign-in that checked the old password can't open a session afterwards
 * (Accounts.ts).
 */
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../auditlog/AuditLog.ts"
import { Directory } from "./Directory.ts"
import { hashed, matches, tokenHash } from "./Secrets.ts"
import { storedAs, textValues } from "../postgres/Rows.ts"

/** The link's token is unknown, used or expired. */
export class LinkRefused extends Schema.TaggedError<LinkRefused>()("LinkRefused", {}) {}
/** Another account has verified this address in the meantime. */
export class AddressTaken extends Schema.TaggedError<AddressTaken>()("AddressTaken", {}) {}
export class WrongPassword extends Schema.TaggedError<WrongPassword>()("WrongPassword", {}) {}

const passwordRows = storedAs({ password_hash: Schema.String })

export class Passwords extends Context.Service<
  Passwords,
  {
    /** Returns the address. Other ways to sign in that were added before are removed. */
    readonly verifyEmail: (token: Redacted.Redacted) => Effect.Effect<string, LinkRefused | AddressTaken>
    /** Ends all other sessions of the user. `address` is the client's, for the audit log. */
    readonly change: (
      session: { readonly user_id: string; readonly token: Redacted.Redacted },
      current: Redacted.Redacted,
      next: Redacted.Redacted,
      address: string
    ) => Effect.Effect<void, WrongPassword>
    /** Ends all sessions of the user, and removes all passkeys. Returns the user's address. */
    readonly reset: (
      token: Redacted.Redacted,
      next: Redacted.Redacted,
      address: string
    ) => Effect.Effect<string, LinkRefused>
    readonly check: (user_id: string, password: Redacted.Redacted) => Effect.Effect<void, WrongPassword>
    /** Ends all sessions of a user, and returns how many. Call it on behalf of somebody, which is a transaction. */
    readonly endSessions: (user_id: string) => Effect.Effect<number>
  }
>()("rungate/layers/accounts/Passwords") {
  static readonly layer = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog
      const directory = yield* Directory

      /** Deletes a link's token and returns its user. If the transaction fails, the link still works. */
      const consume = Effect.fnUntraced(function* (token: Redacted.Redacted, purpose: string) {
        // Lock the user first. Otherwise two links of one user could deadlock on each other's tokens.
        yield* sql`
          SELECT 1 AS locked FROM users
          WHERE user_id = (SELECT user_id FROM mail_tokens WHERE token_hash = ${tokenHash(token)}) FOR UPDATE`
        const [user_id] = yield* textValues(sql`
          DELETE FROM mail_tokens WHERE token_hash = ${tokenHash(token)} AND purpose = ${purpose} AND expires_at > now()
          RETURNING user_id`)
        return user_id ?? (yield* new LinkRefused())
      })

      /**
       * Deletes the referral of a user who already has an account, because referrals are for new users only. The sign-up could not
       * check this, because its answer would reveal that the address has an account. The lock serializes two spellings of one
       * address, so the second sees the first.
       */
      const dropReferralOfExistingUser = Effect.fnUntraced(function* (user_id: string) {
        yield* sql`
          SELECT pg_advisory_xact_lock(hashtextextended('referral ' || email_identity(email), 0)) FROM users WHERE user_id = ${user_id}`
        yield* sql`
          DELETE FROM referrals r USING users me
          WHERE me.user_id = ${user_id} AND r.referred_org = me.org_id AND r.bonus_state = 'pending' AND r.credits = 0
            AND EXISTS (SELECT FROM users u WHERE NOT u.pending AND u.org_id <> me.org_id
                          AND email_identity(u.email) = email_identity(me.email))`
      })

      const claimAddress = Effect.fnUntraced(function* (token: Redacted.Redacted) {
        const rows = textValues(sql`
          SELECT u.email FROM mail_tokens t JOIN users u USING (user_id)
          WHERE t.token_hash = ${tokenHash(token)} AND t.purpose = 'verify_email' AND t.expires_at > now()`)
        const [email] = directory.cells === null ? [] : yield* Effect.orDie(rows)
        if (email !== undefined) yield* Effect.mapError(directory.claim(email), () => new AddressTaken())
      })

      const endSessions = (user_id: string, except: Redacted.Redacted | null) => sql`
        UPDATE sessions SET ended_at = now()
        WHERE user_id = ${user_id} AND ended_at IS NULL AND expires_at > now()
          AND token_hash IS DISTINCT FROM ${except === null ? null : tokenHash(except)}::bytea
        RETURNING 1 AS ended`

      /** The hash of the user's password, if it is this one. */
      const check = Effect.fnUntraced(function* (user_id: string, password: Redacted.Redacted) {
        const user = yield* passwordRows.first(sql`SELECT password_hash FROM users WHERE user_id = ${user_id}`)
        const hash = user?.password_hash ?? ""
        return (yield* matches(password, hash)) ? hash : yield* new WrongPassword()
      })

      return Passwords.of({
        verifyEmail: Effect.fn("Passwords.verifyEmail")(function* (token) {
          yield* claimAddress(token)
          return yield* sql
            .withTransaction(
              Effect.gen(function* () {
                const user_id = yield* consume(token, "verify_email")
                yield* dropReferralOfExistingUser(user_id)
                // Whoever signed up with the address may not be its owner. While the user is pending, no mail tells of the removal.
                yield* sql`DELETE FROM passkeys WHERE user_id = ${user_id}`
                yield* sql`DELETE FROM second_factors WHERE user_id = ${user_id}`
                const [email] = yield* textValues(sql`
                  UPDATE users SET pending = false, email_verified_at = now() WHERE user_id = ${user_id} AND pending RETURNING email`)
                if (email === undefined) return yield* new LinkRefused()
                yield* sql`DELETE FROM mail_tokens WHERE user_id = ${user_id} AND purpose = 'verify_email'`
                return email
              })
            )
            .pipe(
              Effect.catchReason("SqlError", "UniqueViolation", () => Effect.fail(new AddressTaken())),
              Effect.catchTag("SqlError", Effect.die)
            )
        }),
        change: Effect.fn("Passwords.change")(function* ({ user_id, token }, current, next, address) {
          const hash = yield* check(user_id, current)
          const password_hash = yield* hashed(next)
          yield* log
            .by({ kind: "person", id: user_id, name: null, address })(
              Effect.gen(function* () {
                // Of two concurrent changes one succeeds. For the other, the current password is no longer the right one.
                const changed = yield* sql`
                  UPDATE users SET password_hash = ${password_hash} WHERE user_id = ${user_id} AND password_hash = ${hash} RETURNING 1 AS changed`
                if (changed.length === 0) return yield* new WrongPassword()
                yield* endSessions(user_id, token)
                yield* sql`DELETE FROM mail_tokens WHERE user_id = ${user_id} AND purpose = 'reset_password'`
              })
            )
            .pipe(Effect.catchTag("SqlError", Effect.die))
        }),
        reset: Effect.fn("Passwords.reset")(function* (token, next, address) {
          // Checked before the expensive password hash, so that an invented token costs little.
          const tokens = yield* Effect.orDie(sql`
            SELECT 1 AS valid FROM mail_tokens WHERE token_hash = ${tokenHash(token)} AND purpose = 'reset_password' AND expires_at > now()`)
          if (tokens.length === 0) return yield* new LinkRefused()
          const password_hash = yield* hashed(next)
          return yield* log
            .by({ kind: "link", id: null, name: null, address })(
              Effect.gen(function* () {
                const user_id = yield* consume(token, "reset_password")
                const [email] = yield* textValues(sql`
                  UPDATE users SET password_hash = ${password_hash}, email_verified_at = coalesce(email_verified_at, now())
                  WHERE user_id = ${user_id} AND NOT pending RETURNING email`)
                if (email === undefined) return yield* new LinkRefused()
                yield* endSessions(user_id, null)
                yield* sql`DELETE FROM mail_tokens WHERE user_id = ${user_id} AND purpose = 'reset_password'`
                // Somebody else may have added them with the old password. A second factor stays, because it protects from a stolen mailbox.
                yield* log.by({ kind: "person", id: user_id, name: null, address })(
                  sql`DELETE FROM passkeys WHERE user_id = ${user_id}`
                )
                return email
              })
            )
            .pipe(Effect.catchTag("SqlError", Effect.die))
        }),
        check: (user_id, password) => Effect.asVoid(check(user_id, password)),
        endSessions: (user_id) =>
          Effect.orDie(
            Effect.andThen(
              sql`SELECT 1 AS locked FROM users WHERE user_id = ${user_id} FOR UPDATE`,
              Effect.map(endSessions(user_id, null), ({ length }) => length)
            )
          )
      })
    })
  )
}
