/**
 * The outbox of e-mails about accounts. A sign-up or password reset stores an e-mail in its transaction, and AccountMails sends it.
 *
 * The text is chosen when the e-mail is sent. So the request does the same work whether or not the address has an account. The
 * token of a link is also created then, and only its digest is stored.
 */
import { Context, Effect, Layer, type Redacted, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { signInChanges } from "../../schema/accounts/AccountMail.ts"
import { newLinkToken, tokenHash } from "./Secrets.ts"
import { Settings } from "../platform/Settings.ts"
import { done, oneRowOf, storedAs } from "../postgres/Rows.ts"

/** Triggers of the database queue mails of these kinds (`audit_sign_in_way`). */
const SignInChange = Schema.Literals(Struct.keys(signInChanges))

export const DueMail = Schema.Struct({
  mail_id: Schema.BigInt,
  kind: Schema.Union([Schema.Literals(["sign_up", "reset_password"]), SignInChange]),
  address: Schema.String,
  /** Whom it is about. Null for a password reset. */
  user_id: Schema.NullOr(Schema.String),
  /** Attempts to send this e-mail, the current one included. */
  attempts: Schema.Number
})
export type DueMail = typeof DueMail.Type
const dueMailRows = storedAs(DueMail.fields)

const isDue = "ended_at IS NULL AND send_at <= now()"

/** What to send. `Drop`: nothing is sent, for the reason in `why`. */
export type Content =
  | { readonly _tag: "Verify"; readonly token: Redacted.Redacted }
  | { readonly _tag: "AlreadyHere" }
  /** Goes to the account's own spelling of the address. */
  | { readonly _tag: "Reset"; readonly token: Redacted.Redacted; readonly to: string }
  | { readonly _tag: "Changed"; readonly change: typeof SignInChange.Type }
  | { readonly _tag: "Drop"; readonly why: string }

/** Queued e-mails per address. Further requests queue none. */
const waitingMax = 5
/** E-mails of a kind that one address gets per hour, so that nobody floods a mailbox through this service, or keeps another mail from it. */
const sentPerHourMax = 5
/** Sending takes at most 30 s. Each further attempt waits twice as long. */
const claimSeconds = 60
const claimSecondsMax = 3_600
const verifyHours = 72
export const resetMinutes = 60
const keepDays = 1

const recipientRow = oneRowOf({
  owner: Schema.NullOr(Schema.String),
  owner_email: Schema.NullOr(Schema.String),
  pending: Schema.NullOr(Schema.Boolean),
  sent: Schema.BigInt
})

export class Mails extends Context.Service<
  Mails,
  {
    /** Queues the e-mail after a sign-up. Call it in the sign-up's transaction. */
    readonly signedUp: (user_id: string, address: string) => Effect.Effect<void>
    /** Queues an e-mail to reset a password. Takes the same time whether or not the address has an account. */
    readonly resetAsked: (address: string) => Effect.Effect<void>
    /** The token of a link that sets a password, for who stands at the service's terminal and gets no e-mail. */
    readonly resetLink: (user_id: string) => Effect.Effect<Redacted.Redacted>
    /** Claims e-mails that are due. No other process gets them until the claim expires. */
    readonly due: (limit: number) => Effect.Effect<ReadonlyArray<DueMail>>
    readonly content: (mail: DueMail) => Effect.Effect<Content>
    readonly ended: (mail_id: bigint, outcome: "sent" | "dropped" | "failed") => Effect.Effect<void>
    /** Deletes old e-mails that were sent or dropped, and expired tokens. */
    readonly forget: Effect.Effect<void>
  }
>()("rungate/layers/accounts/Mails") {
  static readonly due = () => `EXISTS (SELECT FROM mails WHERE ${isDue})`

  static readonly layer = Layer.effect(
    Mails,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cell } = yield* Settings

      const enqueue = (kind: DueMail["kind"], address: string, user_id: string | null) =>
        done(sql`
          INSERT INTO mails (kind, address, user_id)
          SELECT ${kind}, ${address}, ${user_id}
          WHERE (SELECT count(*) FROM mails WHERE lower(address) = lower(${address}) AND ended_at IS NULL) < ${waitingMax}`)

      const createToken = Effect.fnUntraced(function* (
        purpose: "verify_email" | "reset_password",
        user_id: string,
        minutes: number
      ) {
        const token = newLinkToken(cell, purpose === "verify_email" ? "verify" : "reset", null)
        yield* sql`
          INSERT INTO mail_tokens (token_hash, purpose, user_id, expires_at)
          VALUES (${tokenHash(token)}, ${purpose}, ${user_id}, now() + make_interval(mins => ${minutes}))`
        return token
      })

      const content = Effect.fnUntraced(function* ({ kind, address, user_id }: DueMail) {
        const { owner, owner_email, pending, sent } = yield* recipientRow(sql`
          SELECT owner.user_id AS owner, owner.email AS owner_email,
                 (SELECT pending FROM users WHERE user_id = ${user_id}) AS pending,
                 (SELECT count(*) FROM mails WHERE lower(address) = lower(${address}) AND kind = ${kind} AND outcome = 'sent'
                    AND ended_at > now() - interval '1 hour') AS sent
          FROM (SELECT) one LEFT JOIN users owner ON lower(owner.email) = lower(${address}) AND NOT owner.pending`)
        const drop = (why: string): Content => ({ _tag: "Drop", why })
        if (sent >= BigInt(sentPerHourMax)) return drop(`${sent} were sent to this address within an hour`)
        if (kind !== "sign_up" && kind !== "reset_password") {
          const changed: Content = { _tag: "Changed", change: kind }
          return changed
        }
        if (kind === "reset_password") {
          if (owner === null || owner_email === null) return drop("the address has no account")
          const token = yield* createToken("reset_password", owner, resetMinutes)
          const reset: Content = { _tag: "Reset", token, to: owner_email }
          return reset
        }
        if (user_id === null || pending !== true) return drop("the address is verified")
        if (owner !== null) {
          const here: Content = { _tag: "AlreadyHere" }
          return here
        }
        const verify: Content = { _tag: "Verify", token: yield* createToken("verify_email", user_id, 60 * verifyHours) }
        return verify
      }, Effect.orDie)

      return Mails.of({
        signedUp: (user_id, address) => enqueue("sign_up", address, user_id),
        resetAsked: (address) => enqueue("reset_password", address, null),
        resetLink: (user_id) => Effect.orDie(createToken("reset_password", user_id, resetMinutes)),
        due: (limit) =>
          dueMailRows.all(sql`
            UPDATE mails m SET attempts = attempts + 1,
                   send_at = now() + make_interval(secs => least(${claimSecondsMax}::float8, ${claimSeconds}::float8 * 2 ^ least(m.attempts, 10)))
            FROM (SELECT mail_id FROM mails WHERE ${sql.literal(isDue)} ORDER BY send_at LIMIT ${limit}
                  FOR UPDATE SKIP LOCKED) claimed
            WHERE m.mail_id = claimed.mail_id
            RETURNING m.mail_id, m.kind, m.address, m.user_id, m.attempts`),
        content,
        ended: (mail_id, outcome) =>
          done(
            sql`UPDATE mails SET ended_at = now(), outcome = ${outcome} WHERE mail_id = ${mail_id} AND ended_at IS NULL`
          ),
        forget: Effect.andThen(
          done(sql`DELETE FROM mails WHERE ended_at < now() - make_interval(days => ${keepDays})`),
          done(sql`DELETE FROM mail_tokens WHERE expires_at < now()`)
        )
      })
    })
  )
}
