/**
 * The second step of a sign-in with a password: a code of an authenticator app (TOTP, RFC 6238), or one of ten recovery codes.
 *
 * A code works once: the row remembers the time step of the last one, and loses a recovery code that was used. A trigger holds both.
 */
import { Clock, Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { Secret, TOTP } from "otpauth"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../auditlog/AuditLog.ts"
import { open, seal } from "../platform/Encryption.ts"
import { Settings } from "../platform/Settings.ts"
import { resealed } from "../postgres/resealed.ts"
import { done, hasRows, storedAs, texts } from "../postgres/Rows.ts"
import type { RemovedFactors } from "../../schema/nouns/Member.ts"
import { NoEncryptionKey } from "../provideraccounts/ProviderAccounts.ts"
import { digest, randomText } from "./Secrets.ts"

/** The account has a second factor, and the sign-in came without a code. */
export class CodeNeeded extends Schema.TaggedError<CodeNeeded>()("CodeNeeded", {}) {}
/** The code is wrong, too old, or was used before. */
export class WrongCode extends Schema.TaggedError<WrongCode>()("WrongCode", {}) {}
export class AlreadyOn extends Schema.TaggedError<AlreadyOn>()("AlreadyOn", {}) {}

/** The user is in other organizations too, whose owners rely on the second factor. */
export class MemberElsewhere extends Schema.TaggedError<MemberElsewhere>()("MemberElsewhere", {}) {}

/** RFC 6238 recommends 160 bits. */
const secretBytes = 20
/** A phone's clock may be half a minute off. */
const stepsAround = 1
const recoveryCodes = 10
const recoveryCodeLength = 16

/** The time step of a code that is valid now and newer than the last one that was used. Else null. */
export const stepOf = (secret: string, code: string, millis: number, last: bigint): bigint | null => {
  const delta = TOTP.validate({
    ...{ secret: Secret.fromBase32(secret), token: code, timestamp: millis },
    window: stepsAround
  })
  const step = delta === null ? null : BigInt(TOTP.counter({ timestamp: millis }) + delta)
  return step !== null && step > last ? step : null
}

const purposeOf = (user_id: string) => `second factor of ${user_id}`
const hashOf = (code: string) => Buffer.from(digest(code)).toString("base64url")

const factors = storedAs({
  ...{ secret: Schema.String, last_step: Schema.BigInt },
  ...{ confirmed: Schema.Boolean, recovery_codes: Schema.Int }
})
const places = storedAs({ here: Schema.Boolean, elsewhere: Schema.Boolean })

export class SecondFactors extends Context.Service<
  SecondFactors,
  {
    readonly state: (user_id: string) => Effect.Effect<{ readonly enabled: boolean; readonly recovery_codes: number }>
    /** Makes a secret, which counts once a code of it is confirmed. */
    readonly start: (
      user_id: string,
      email: string
    ) => Effect.Effect<{ secret: string; uri: string }, AlreadyOn | NoEncryptionKey>
    /** Turns the second factor on, and returns its recovery codes. */
    readonly confirm: (user_id: string, code: string) => Effect.Effect<ReadonlyArray<string>, WrongCode>
    /** Uses a code up. False if the account has no second factor. */
    readonly check: (user_id: string, code: string | null) => Effect.Effect<boolean, CodeNeeded | WrongCode>
    readonly remove: (user_id: string) => Effect.Effect<void>
    /**
     * Removes the second factor and all passkeys of who has lost them, and ends all sessions if there were any. Null if there is no such user.
     * `org_id`: of members of this organization, and of no other.
     */
    readonly reset: (
      user_id: string,
      org_id: string | null
    ) => Effect.Effect<Omit<RemovedFactors, "id"> | null, MemberElsewhere>
    readonly reseal: Effect.Effect<{ readonly resealed: number; readonly unreadable: number }>
  }
>()("rungate/layers/accounts/SecondFactors") {
  static readonly layer = Layer.effect(
    SecondFactors,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog
      const settings = yield* Settings
      const keys = () => settings.current().encryptionKeys

      const find = (user_id: string) =>
        factors.first(sql`
          SELECT secret, last_step, confirmed_at IS NOT NULL AS confirmed, cardinality(recovery_codes) AS recovery_codes
          FROM second_factors WHERE user_id = ${user_id}`)

      /** The step of a valid code of this user's secret. */
      const stepNow = Effect.fnUntraced(function* (user_id: string, code: string, secret: string, last: bigint) {
        const now = yield* Clock.currentTimeMillis
        const opened = open(keys(), purposeOf(user_id), secret)
        return Result.isFailure(opened) ? null : stepOf(Redacted.value(opened.success), code, now, last)
      })

      return SecondFactors.of({
        state: (user_id) =>
          Effect.map(find(user_id), (row) => ({
            enabled: row?.confirmed === true,
            recovery_codes: row?.recovery_codes ?? 0
          })),
        start: Effect.fn("SecondFactors.start")(function* (user_id, email) {
          const secret = new Secret({ size: secretBytes })
          const sealed = seal(keys(), purposeOf(user_id), secret.base32)
          if (sealed === null) return yield* new NoEncryptionKey()
          const isStored = yield* hasRows(sql`
            INSERT INTO second_factors (user_id, secret) VALUES (${user_id}, ${sealed})
            ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret WHERE second_factors.confirmed_at IS NULL RETURNING 1 AS stored`)
          if (!isStored) return yield* new AlreadyOn()
          return { secret: secret.base32, uri: new TOTP({ issuer: "Rungate", label: email, secret }).toString() }
        }),
        confirm: Effect.fn("SecondFactors.confirm")(function* (user_id, code) {
          const row = yield* find(user_id)
          if (row === null || row.confirmed) return yield* new WrongCode()
          const step = yield* stepNow(user_id, code, row.secret, row.last_step)
          if (step === null) return yield* new WrongCode()
          const codes = Array.from({ length: recoveryCodes }, () => randomText(recoveryCodeLength))
          const isOn = yield* hasRows(sql`
            UPDATE second_factors SET confirmed_at = now(), last_step = ${step}, recovery_codes = ${texts(codes.map(hashOf))}
            WHERE user_id = ${user_id} AND confirmed_at IS NULL AND secret = ${row.secret} RETURNING 1 AS confirmed`)
          return isOn ? codes : yield* new WrongCode()
        }),
        check: Effect.fn("SecondFactors.check")(
          function* (user_id, code) {
            const row = yield* find(user_id)
            if (row === null || !row.confirmed) return false
            if (code === null) return yield* new CodeNeeded()
            const step = yield* stepNow(user_id, code, row.secret, row.last_step)
            // Of two uses of one code at once, the second finds no row.
            const used = yield* step === null
              ? log.by({ kind: "person", id: user_id, name: null, address: null })(sql`
                  UPDATE second_factors SET recovery_codes = array_remove(recovery_codes, ${hashOf(code)})
                  WHERE user_id = ${user_id} AND ${hashOf(code)} = ANY(recovery_codes) RETURNING 1 AS used`)
              : sql`
                  UPDATE second_factors SET last_step = ${step}
                  WHERE user_id = ${user_id} AND secret = ${row.secret} AND last_step < ${step} RETURNING 1 AS used`
            return used.length > 0 || (yield* new WrongCode())
          },
          Effect.catchTag("SqlError", Effect.die)
        ),
        remove: (user_id) => done(sql`DELETE FROM second_factors WHERE user_id = ${user_id}`),
        reset: Effect.fn("SecondFactors.reset")(
          function* (user_id, org_id) {
            // Locks the user's row, so nobody joins another organization meanwhile.
            const user = yield* places.first(sql`
              SELECT ${org_id}::text IS NULL OR EXISTS (SELECT FROM members m WHERE m.user_id = u.user_id AND m.org_id = ${org_id}) AS here,
                     EXISTS (SELECT FROM members m WHERE m.user_id = u.user_id AND m.org_id <> ${org_id}) AS elsewhere
              FROM users u WHERE user_id = ${user_id} FOR UPDATE`)
            if (user?.here !== true) return null
            if (user.elsewhere) return yield* new MemberElsewhere()
            const second_factor = yield* hasRows(sql`
              DELETE FROM second_factors WHERE user_id = ${user_id} AND confirmed_at IS NOT NULL RETURNING 1 AS removed`)
            const { length: passkeys } =
              yield* sql`DELETE FROM passkeys WHERE user_id = ${user_id} RETURNING 1 AS removed`
            const ended = yield* sql`
              UPDATE sessions SET ended_at = now() WHERE user_id = ${user_id} AND ended_at IS NULL AND expires_at > now()
                AND ${second_factor || passkeys > 0} RETURNING 1 AS ended`
            return { second_factor, passkeys, sessions_ended: ended.length }
          },
          sql.withTransaction,
          Effect.catchTag("SqlError", Effect.die)
        ),
        reseal: resealed(sql, keys, "second_factors", ["user_id"], ["secret"], purposeOf)
      })
    })
  )
}
