/** Verifies the signature of a compact JWS with keys from a file. Offline: nothing is asked of any service. Loaded on demand. */
import { createHash } from "node:crypto"
import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from "jose"
import { Effect, Option, Result, Schema } from "effect"
import { algorithm, PublicKeys } from "../../../schema/receipts/PublicKeys.ts"
import type { Sha256 } from "../../../schema/receipts/Verification.ts"

export const sha256: Sha256 = (previous, text) =>
  createHash("sha256").update(Buffer.from(previous, "hex")).update(text, "utf8").digest("hex")

type Keys = typeof PublicKeys.Type

const decodeKeys = Schema.decodeUnknownOption(Schema.fromJsonString(PublicKeys))

export const keysIn = (text: string): Keys | null => Option.getOrNull(decodeKeys(text))

const headerOf = (jws: string) =>
  Result.getOrNull(Result.try({ try: () => decodeProtectedHeader(jws), catch: () => null }))

/** As what it says that it is signed. */
export const typeOf = (jws: string): string | null => headerOf(jws)?.typ ?? null

/** The signed contents, or a sentence that says what is wrong. */
export const verified = Effect.fnUntraced(function* <A>(
  jws: string,
  { keys }: Keys,
  typ: string,
  schema: Schema.Codec<A, unknown>
) {
  const header = headerOf(jws)
  if (header === null) return Result.fail("It is not a JWS in compact form.")
  const { kid } = header
  if (header.typ !== typ) return Result.fail(`It is signed as "${String(header.typ)}" and not as "${typ}".`)
  if (typeof kid !== "string" || !keys.some((one) => one.kid === kid))
    return Result.fail(
      `It is signed with the key ${String(kid)}, which the keys given do not include. If the service has published that key since, save its keys again.`
    )
  const set = createLocalJWKSet({ keys: keys.map(({ kid, kty, crv, x }) => ({ kid, kty, crv, x })) })
  const opened = yield* Effect.promise(() =>
    compactVerify(jws, set, { algorithms: [algorithm] }).then(
      ({ payload }) => new TextDecoder().decode(payload),
      () => null
    )
  )
  if (opened === null)
    return Result.fail("The signature is not valid: the text was changed, or another key has signed it.")
  const payload = Option.getOrNull(Schema.decodeUnknownOption(Schema.fromJsonString(schema))(opened))
  return payload === null
    ? Result.fail("The signature is valid, but this version of rungate can't read the contents. Update rungate.")
    : Result.succeed({ key_id: kid, payload })
})
