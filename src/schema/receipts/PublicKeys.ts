/** The published keys (`/.well-known/jwks.json`, RFC 7517) with which receipts and ledger heads are verified. */
import { Schema } from "effect"

/** Ed25519, by the name that every JOSE library knows (RFC 8037). */
export const algorithm = "EdDSA"
/** The `typ` of each signed text, so that one kind can't be passed off as the other. */
export const receiptType = "rungate-receipt+jws"
export const headType = "rungate-ledger-head+jws"
export const statementType = "rungate-label-statement+jws"

export const keysPath = "/.well-known/jwks.json"

export const PublicKeyFields = {
  kty: Schema.Literal("OKP"),
  crv: Schema.Literal("Ed25519"),
  x: Schema.String,
  kid: Schema.String,
  alg: Schema.Literal(algorithm),
  use: Schema.Literal("sig")
}
export const PublicKey = Schema.Struct(PublicKeyFields)
export type PublicKey = typeof PublicKey.Type

/** Members that another publisher adds are ignored. */
export const PublicKeys = Schema.Struct({
  keys: Schema.Array(Schema.Struct({ kid: Schema.String, kty: Schema.String, crv: Schema.String, x: Schema.String }))
})
