/**
 * What usage counts of a finished run, as SQL.
 *
 * Charge and day are the run's. The turn that settles it writes them beside the ledger's entry, with the same time, and neither can change any more
 * (E5 and U1 compare both).
 */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf } from "../postgres/Rows.ts"
import { dayOf, zonesOf } from "../postgres/SpendDay.ts"
import { servedBy } from "./servedBy.ts"
import type { Fact } from "./Counted.ts"

export const factRows = rowsOf({
  org_id: Schema.String,
  day: Schema.String,
  capability: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  key_id: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  status: Schema.String,
  runs: Schema.BigInt,
  charged: Schema.BigInt,
  metadata: Schema.NullOr(Schema.String)
})

/** Columns of `r` (runs). Days are those of the organization's time zone. */
export const factColumns = `r.org_id, ${dayOf("r.finished_at", zonesOf("r.org_id"))} AS day, r.capability, ${servedBy} AS provider, r.key_id, r.endpoint, r.status, coalesce(r.charged, 0) AS charged, r.metadata`

const decodeMetadata = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))
type Row = Omit<Fact, "metadata"> & { readonly metadata: string | null }
export const factOf = ({ metadata, ...row }: Row): Fact => ({
  ...row,
  metadata: metadata === null ? {} : decodeMetadata(metadata)
})

/** Sums of alike rows with `factColumns` and `run_id`, those of the oldest run first. */
export const factSums = `org_id, day::text AS day, capability, provider, key_id, endpoint, status, count(*) AS runs, sum(charged)::bigint AS charged,
  metadata::text AS metadata`
export const factGroups =
  "GROUP BY org_id, n.day, capability, provider, key_id, endpoint, status, n.metadata ORDER BY min(run_id)"

/** Ids of an organization's finished runs that are not counted yet. */
export const waitingIds = (sql: SqlClient.SqlClient, org_id: string) => sql`
  SELECT unnest(run_ids) AS run_id FROM history_queue WHERE org_id = ${org_id} AND NOT counted
  UNION SELECT unnest(run_ids) FROM usage_queue WHERE org_id = ${org_id}`
