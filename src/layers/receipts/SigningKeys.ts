/**
 * The Ed25519 keys that sign receipts and ledger heads. One key signs, for all processes. Retired public keys are published with it.
 *
 * The first process makes the key. Which key signs is read for each signature, so after a rotation no process signs with the old one. A
 * private key is in the database and in memory only, never in a message or an error.
 */
import { calculateJwkThumbprint, CompactSign, exportJWK, generateKeyPair, importJWK } from "jose"
import { Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type EncryptionKeys, isSealed, isSealedByFirst, open, seal } from "../platform/Encryption.ts"
import { Settings } from "../platform/Settings.ts"
import { rowsOf, textValues } from "../postgres/Rows.ts"
import { algorithm, type PublicKey, PublicKeyFields } from "../../schema/receipts/PublicKeys.ts"

/** Keys in the published list. Rotations are made by hand, so no installation reaches it. */
const keysMax = 500
/** Processes that start together try to make the first key. */
const triesMax = 5

export class SigningUnavailable extends Schema.TaggedError<SigningUnavailable>()("SigningUnavailable", {
  message: Schema.String
}) {}

const secretRows = rowsOf({ secret: Schema.NullOr(Schema.String) })
const keptRows = rowsOf({ kept: Schema.Boolean })

const purposeOf = (key_id: string) => `receipt key ${key_id}`

const PrivateKey = Schema.fromJsonString(
  Schema.Struct({ kty: Schema.Literal("OKP"), crv: Schema.Literal("Ed25519"), x: Schema.String, d: Schema.String })
)
const decodePrivate = Schema.decodeUnknownOption(PrivateKey)
const decodePublic = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct(PublicKeyFields)))

type Signer = (typ: string, payload: object) => Effect.Effect<string>

const unreadable = new SigningUnavailable({
  message: "The key that signs receipts can't be read. The operator can make a new one: rungate admin receipts rotate"
})
const noKey = new SigningUnavailable({
  message:
    "The key that signs receipts is encrypted with another RUNGATE_ENCRYPTION_KEY. The operator can add that key to the setting, or make a new one: rungate admin receipts rotate"
})

/** The private key, or why it can't be used. */
const openedOf = (keys: EncryptionKeys, key_id: string, stored: string | null) => {
  if (stored === null) return Result.fail(unreadable)
  if (!isSealed(stored)) return Result.succeed(Redacted.make(stored))
  return Result.mapError(open(keys, purposeOf(key_id), stored), (why) => (why === "no_key" ? noKey : unreadable))
}

const signerOf = Effect.fnUntraced(function* (kid: string, secret: Redacted.Redacted) {
  const jwk = decodePrivate(Redacted.value(secret))
  if (jwk._tag === "None") return yield* unreadable
  // An error of the library could quote the key.
  const key = yield* Effect.tryPromise({ try: () => importJWK(jwk.value, algorithm), catch: () => unreadable })
  const sign: Signer = (typ, payload) =>
    Effect.promise(() =>
      new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
        .setProtectedHeader({ alg: algorithm, kid, typ })
        .sign(key)
    )
  return sign
})

const newKey = Effect.promise(async () => {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { crv: "Ed25519", extractable: true })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  const secret = Redacted.make(JSON.stringify(await exportJWK(privateKey)))
  return { kid, public_key: JSON.stringify({ ...jwk, kid, alg: algorithm, use: "sig" }), secret }
})

export class SigningKeys extends Context.Service<
  SigningKeys,
  {
    /** A function that signs with the key of now. Makes the first key if there is none. */
    readonly signer: Effect.Effect<Signer, SigningUnavailable>
    /** Every public key, newest first. */
    readonly published: Effect.Effect<ReadonlyArray<PublicKey>>
    /** Makes a new key, which signs from now on. Returns its id and that of the key before. */
    readonly rotate: Effect.Effect<{ readonly key_id: string; readonly replaced: string | null }, SigningUnavailable>
  }
>()("rungate/layers/receipts/SigningKeys") {
  static readonly layer = Layer.effect(
    SigningKeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const settings = yield* Settings
      const encryptionKeys = () => settings.current().encryptionKeys
      let cached: { readonly key_id: string; readonly sign: Signer } | null = null

      const current = Effect.map(
        textValues(sql`SELECT key_id FROM receipt_keys WHERE retired_at IS NULL`),
        (rows) => rows[0] ?? null
      ).pipe(Effect.orDie)

      /** Null if another process was faster. */
      const replace = Effect.fnUntraced(function* (replaced: string | null) {
        const { kid, public_key, secret } = yield* newKey
        const stored = seal(encryptionKeys(), purposeOf(kid), Redacted.value(secret)) ?? Redacted.value(secret)
        const [row] = yield* keptRows(
          sql`SELECT keep_receipt_key(${kid}, ${public_key}::text::json, ${stored}, ${replaced}) AS kept`
        ).pipe(
          // The detail of a refused row would have the key.
          Effect.catch(() => Effect.die(new Error("The database refused the new key of receipts.")))
        )
        return row?.kept === true ? kid : null
      })

      const ensured: Effect.Effect<string, SigningUnavailable> = Effect.gen(function* () {
        for (let tries = 0; tries < triesMax; tries++) {
          const key_id = (yield* current) ?? (yield* replace(null))
          if (key_id !== null) return key_id
        }
        return yield* unreadable
      })

      const signer = Effect.gen(function* () {
        const key_id = yield* ensured
        if (cached?.key_id === key_id) return cached.sign
        const [row] = yield* Effect.orDie(secretRows(sql`SELECT receipt_secret(${key_id}) AS secret`))
        const stored = row?.secret ?? null
        const secret = yield* Effect.fromResult(openedOf(encryptionKeys(), key_id, stored))
        // RUNGATE_ENCRYPTION_KEY was set, or rotated, after the key was made.
        if (stored !== null && encryptionKeys().length > 0 && !isSealedByFirst(encryptionKeys(), stored)) {
          const sealed = seal(encryptionKeys(), purposeOf(key_id), Redacted.value(secret))
          yield* Effect.orDie(sql`SELECT seal_receipt_secret(${key_id}, ${sealed})`)
        }
        const sign = yield* signerOf(key_id, secret)
        cached = { key_id, sign }
        return sign
      })

      const published = Effect.map(
        textValues(sql`
          SELECT public_key::text AS public_key FROM receipt_keys ORDER BY created_at DESC, key_id LIMIT ${keysMax}`),
        (rows) =>
          rows.flatMap((public_key) => {
            const key = decodePublic(public_key)
            return key._tag === "Some" ? [key.value] : []
          })
      ).pipe(Effect.orDie)

      const rotate = Effect.gen(function* () {
        for (let tries = 0; tries < triesMax; tries++) {
          const replaced = yield* current
          const key_id = yield* replace(replaced)
          if (key_id !== null) return { key_id, replaced }
        }
        return yield* unreadable
      })

      return SigningKeys.of({ signer, published, rotate })
    })
  )
}
