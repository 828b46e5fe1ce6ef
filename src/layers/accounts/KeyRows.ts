/** Decodes the columns of `api_keys` that say what a key may do. */
import { Schema } from "effect"
import { Allow, type KeyAccess } from "../../schema/accounts/KeyAccess.ts"

export const AccessRow = Schema.Struct({
  version: Schema.BigInt,
  /** JSON. */
  allow: Schema.Unknown,
  budget_id: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Schema.Date)
})

const decodeAllow = Schema.decodeUnknownSync(Schema.NullOr(Allow))
export const allowOf = (column: unknown): Allow | null => decodeAllow(column ?? null)

export const accessOf = ({ version, allow, budget_id, expires_at }: typeof AccessRow.Type): KeyAccess => ({
  version,
  allow: allowOf(allow),
  budget_id,
  expires_at
})
