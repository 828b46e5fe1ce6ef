/** Decodes the columns of `api_keys` that say what a key may do. */
import { Schema } from "effect"
import { Allow, type KeyAccess } from "../../schema/accounts/KeyAccess.ts"

/** The keys whose runs it sees: `key_reads` in schema/allowances.sql. */
export const Reads = Schema.NullOr(Schema.Array(Schema.String))

export const AccessRow = Schema.Struct({
  version: Schema.BigInt,
  token_hash: Schema.String,
  /** JSON. */
  allow: Schema.Unknown,
  budget_id: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Schema.Date),
  reads: Reads,
  allowance: Schema.Boolean,
  given_by: Schema.NullOr(Schema.Array(Schema.String))
})

/** The columns of `AccessRow`, from `api_keys`. */
export const accessColumns = `version, encode(key_hash, 'hex') AS token_hash, allow, budget_id, expires_at, key_reads(api_keys) AS reads,
  budget_id IS NOT NULL AND EXISTS (SELECT FROM allowances a WHERE a.key_id = api_keys.key_id) AS allowance,
  CASE WHEN budget_id IS NOT NULL THEN (WITH RECURSIVE above AS (
    SELECT a.parent_key_id FROM allowances a WHERE a.key_id = api_keys.key_id
    UNION ALL SELECT a.parent_key_id FROM above JOIN allowances a ON a.key_id = above.parent_key_id)
    SELECT array_agg(parent_key_id) FROM above WHERE parent_key_id IS NOT NULL) END AS given_by`

const decodeAllow = Schema.decodeUnknownSync(Schema.NullOr(Allow))
/** The scope as it is stored. */
export const allowOf = (column: unknown): Allow | null => decodeAllow(column ?? null)

/** The scope as it counts, with the default of `read`. */
export const scopeOf = ({ allow, reads }: { readonly allow: unknown; readonly reads: typeof Reads.Type }) => {
  const stored = allowOf(allow)
  return stored === null || reads === null ? stored : { ...stored, read: "own" as const }
}

export const accessOf = ({
  version,
  token_hash,
  allow,
  budget_id,
  expires_at,
  reads,
  allowance,
  given_by
}: typeof AccessRow.Type): KeyAccess => ({
  version,
  token_hash,
  allow: scopeOf({ allow, reads }),
  budget_id,
  expires_at,
  reads,
  allowance,
  ...(given_by === null ? {} : { given_by })
})
