/**
 * Passkeys: keys of a person's devices that sign in without a password (WebAuthn). `@simplewebauthn/server` checks origin, RP ID, user
 * verification, signature and count.
 *
 * A challenge is signed and not stored, so strangers store nothing. It works once within five minutes, for one use: the user's row keeps
 * when the last one that was used was made, and only later ones work.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import type * as Library from "@simplewebauthn/server"
import { Clock, Context, Effect, Layer, Option, Predicate, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../platform/Ids.ts"
import { hasRows, oneRowOf, storedAs } from "../postgres/Rows.ts"
import { type ErrorCode, type Problem, refused, refusedWith } from "../../schema/Errors.ts"
import { type Assertion, type NewCredential, Passkey } from "../../schema/nouns/Passkey.ts"
import { Accounts, type NewSession } from "./Accounts.ts"
import { tokenHash } from "./Secrets.ts"

const passkeysMax = 20
/** Bytes, as in the table. An RSA key of 4,096 bits has about 530. */
const publicKeyMax = 2_000
const challengeMillis = 300_000
/** Eight bytes of time, and sixteen random ones. */
const bodyBytes = 24

export const signInUse = "sign in"
export const registerUse = (user_id: string) => `register ${user_id}`

const signed = (key: Uint8Array, use: string, body: Uint8Array) =>
  Buffer.concat([body, createHmac("sha256", key).update(body).update(use).digest()])

export const newChallenge = (key: Uint8Array, use: string, now: number): string => {
  const body = Buffer.from(crypto.getRandomValues(new Uint8Array(bodyBytes)))
  body.writeBigUInt64BE(BigInt(now))
  return signed(key, use, body).toString("base64url")
}

/** When a challenge was made. Null if it is not of this service, for another use, or too old. */
export const issuedAt = (key: Uint8Array, use: string, challenge: string, now: number): bigint | null => {
  const bytes = Buffer.from(challenge, "base64url")
  const right = signed(key, use, bytes.subarray(0, bodyBytes))
  if (bytes.length !== right.length || !timingSafeEqual(bytes, right)) return null
  const issued = bytes.readBigUInt64BE()
  return issued > BigInt(now - challengeMillis) ? issued : null
}

const clientDataOf = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ challenge: Schema.String })))
const challengeIn = (client_data: string): string =>
  Option.getOrUndefined(clientDataOf(Buffer.from(client_data, "base64url").toString()))?.challenge ?? ""

/** `why` is for the log: it names the rule, and no secret. */
const refusal =
  <C extends ErrorCode>(what: string, code: C, sentence: string) =>
  (why: string) =>
    Effect.andThen(Effect.logInfo(`${what} was refused: ${why}`), refusedWith(code, sentence))
const notAdded = refusal(
  "a passkey",
  "invalid_request",
  "The passkey was not added: the start is older than five minutes or was used, the browser was at another address, the passkey has not verified its person, or it is added already. Start again."
)
const notSignedIn = refusal(
  "a sign-in with a passkey",
  "unauthorized",
  "The passkey did not sign in: it is not registered here or was removed, the start is older than five minutes or was used, or it has not verified its person. Start again, or sign in with your password."
)
const tooLong = refused(
  "attestation",
  `has a public key of more than ${publicKeyMax.toLocaleString("en")} bytes; use another authenticator`
)
const tooMany = refusedWith(
  "invalid_request",
  `You have ${passkeysMax} passkeys, which is the most. Remove one that you don't use.`
)

const checked = <A>(check: (library: typeof Library) => Promise<A>) =>
  Effect.tryPromise({
    try: () => import("@simplewebauthn/server").then(check),
    catch: (error) => (error instanceof Error ? error.message : String(error))
  })

const PasskeyRow = Schema.Struct({ ...Passkey.fields, credential_id: Schema.String })
type PasskeyRow = typeof PasskeyRow.Type
const passkeys = storedAs(PasskeyRow.fields)
const keys = storedAs({
  ...{ user_id: Schema.String, password_hash: Schema.String },
  ...{ public_key: Schema.Uint8Array, counter: Schema.BigInt }
})
const challengeKeyRow = oneRowOf({ challenge_key: Schema.Uint8Array })

/** What the library takes of a browser, and what it compares it with. */
const answerOf = <R>({ origin, hostname }: URL, challenge: string, id: string, response: R) => ({
  response: { id, rawId: id, type: "public-key" as const, clientExtensionResults: {}, response },
  ...{ expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: hostname },
  requireUserVerification: true
})

export class Passkeys extends Context.Service<
  Passkeys,
  {
    /** A challenge for `signInUse` or `registerUse`. */
    readonly challenge: (use: string) => Effect.Effect<string>
    readonly list: (user_id: string) => Effect.Effect<ReadonlyArray<PasskeyRow>>
    /** In an open session, and in a transaction of its person. `site` is this service's address. */
    readonly add: (
      site: URL,
      session: { readonly user_id: string; readonly token: Redacted.Redacted },
      given: typeof NewCredential.Type & { readonly name: string }
    ) => Effect.Effect<PasskeyRow, Problem<"invalid_request">>
    /** Null if it is not the user's. */
    readonly rename: (user_id: string, passkey_id: string, name: string) => Effect.Effect<PasskeyRow | null>
    readonly remove: (user_id: string, passkey_id: string) => Effect.Effect<boolean>
    /** Null if its person is in no organization, or not in `org_id`. */
    readonly signIn: (
      site: URL,
      given: typeof Assertion.Type,
      org_id: string | null
    ) => Effect.Effect<NewSession | null, Problem<"unauthorized">>
  }
>()("rungate/layers/accounts/Passkeys") {
  static readonly layer = Layer.effect(
    Passkeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* Accounts
      const { challenge_key: key } = yield* challengeKeyRow(sql`SELECT challenge_key FROM installation`)
      const columns = sql.literal("passkey_id AS id, name, created_at, last_used_at, credential_id")
      const of = (user_id: string, passkey_id: string) => sql`user_id = ${user_id} AND passkey_id = ${passkey_id}`

      const list = (user_id: string) =>
        passkeys.all(sql`SELECT ${columns} FROM passkeys WHERE user_id = ${user_id} ORDER BY passkey_id DESC`)

      const challengeFor = Effect.fnUntraced(function* (use: string, client_data: string) {
        const challenge = challengeIn(client_data)
        const issued = issuedAt(key, use, challenge, yield* Clock.currentTimeMillis)
        return issued === null
          ? yield* Effect.fail("the challenge is too old, or of something else")
          : { challenge, issued }
      })

      /** Uses a challenge up. It locks the user, so of two uses at once the second finds no row. */
      const useUp = Effect.fnUntraced(function* (user_id: string, issued: bigint) {
        const isNew = yield* hasRows(sql`
          UPDATE users SET last_challenge = ${issued} WHERE user_id = ${user_id} AND last_challenge < ${issued} RETURNING 1 AS used`)
        if (!isNew) return yield* Effect.fail("the challenge was used")
      })

      return Passkeys.of({
        challenge: (use) => Effect.map(Clock.currentTimeMillis, (now) => newChallenge(key, use, now)),
        list,
        add: Effect.fn("Passkeys.add")(
          function* (site, { user_id, token }, { name, credential_id: id, client_data, attestation }) {
            const { challenge, issued } = yield* challengeFor(registerUse(user_id), client_data)
            const response = { clientDataJSON: client_data, attestationObject: attestation }
            const { verified, registrationInfo } = yield* checked((library) =>
              library.verifyRegistrationResponse(answerOf(site, challenge, id, response))
            )
            if (!verified) return yield* Effect.fail("the attestation is wrong")
            const { id: signed_id, publicKey, counter } = registrationInfo.credential
            if (signed_id !== id) return yield* Effect.fail("the attestation is of another credential")
            if (publicKey.length > publicKeyMax) return yield* tooLong
            yield* useUp(user_id, issued)
            // Whoever ends sessions, such as with a new password, locks the user first too.
            const isOpen = yield* hasRows(sql`
              SELECT 1 AS open FROM sessions WHERE token_hash = ${tokenHash(token)} AND ended_at IS NULL`)
            if (!isOpen) return yield* Effect.fail("the session has ended")
            if ((yield* list(user_id)).length >= passkeysMax) return yield* tooMany
            const row = yield* passkeys.first(sql`
              INSERT INTO passkeys (passkey_id, user_id, credential_id, public_key, name, counter)
              VALUES (${newId("psk")}, ${user_id}, ${id}, ${publicKey}, ${name}, ${BigInt(counter)})
              ON CONFLICT (credential_id) DO NOTHING RETURNING ${columns}`)
            return row ?? (yield* Effect.fail("the credential is registered already"))
          },
          Effect.catchIf(Predicate.isString, notAdded)
        ),
        rename: (user_id, passkey_id, name) =>
          passkeys.first(sql`UPDATE passkeys SET name = ${name} WHERE ${of(user_id, passkey_id)} RETURNING ${columns}`),
        remove: (user_id, passkey_id) =>
          hasRows(sql`DELETE FROM passkeys WHERE ${of(user_id, passkey_id)} RETURNING 1 AS removed`),
        signIn: Effect.fn("Passkeys.signIn")(
          function* (site, given, org_id) {
            const { credential_id: id, client_data, user_handle } = given
            const { challenge, issued } = yield* challengeFor(signInUse, client_data)
            const row = yield* keys.first(sql`
              SELECT user_id, password_hash, public_key, counter FROM passkeys JOIN users USING (user_id) WHERE credential_id = ${id}`)
            if (row === null) return yield* Effect.fail("the credential is unknown")
            if (Buffer.from(user_handle, "base64url").toString() !== row.user_id)
              return yield* Effect.fail("the credential is another person's")
            const { authenticator_data: authenticatorData, signature } = given
            const response = { clientDataJSON: client_data, authenticatorData, signature, userHandle: user_handle }
            const credential = { id, publicKey: new Uint8Array(row.public_key), counter: Number(row.counter) }
            const { verified, authenticationInfo } = yield* checked((library) =>
              library.verifyAuthenticationResponse({ ...answerOf(site, challenge, id, response), credential })
            )
            if (!verified) return yield* Effect.fail("the signature is wrong")
            const counter = BigInt(authenticationInfo.newCounter)
            return yield* sql.withTransaction(
              Effect.gen(function* () {
                yield* useUp(row.user_id, issued)
                const isCounted = yield* hasRows(sql`
                  UPDATE passkeys SET counter = ${counter}, last_used_at = now()
                  WHERE credential_id = ${id} AND (counter < ${counter} OR (counter = 0 AND ${counter} = 0)) RETURNING 1 AS counted`)
                if (!isCounted) return yield* Effect.fail("the count came back, or the passkey was removed")
                return yield* accounts.open(row.user_id, row.password_hash, org_id, true)
              })
            )
          },
          Effect.catchTag("SqlError", Effect.die),
          Effect.catchIf(Predicate.isString, notSignedIn)
        )
      })
    })
  )
}
