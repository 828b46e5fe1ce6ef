/** Reads the finished runs of an organization in pages, as simulations see them. Nothing here writes. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { batchRowsOf } from "../postgres/Rows.ts"

export const PastRow = Schema.Struct({
  run_id: Schema.String,
  created_at: Schema.Date,
  kind: Schema.Literals(["capability", "endpoint"]),
  capability: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  status: Schema.String,
  charged: Schema.NullOr(Schema.BigInt),
  duration_ms: Schema.Number,
  /** JSON texts. Null for a raw run, and after the run was erased. */
  plan: Schema.NullOr(Schema.String),
  attempts: Schema.NullOr(Schema.String),
  /** Null also if it is long. */
  input: Schema.NullOr(Schema.String)
})
export type PastRow = typeof PastRow.Type
const pastRows = batchRowsOf(PastRow.fields)

export interface PastQuestion {
  readonly org_id: string
  /** Null: all of them. */
  readonly capability: string | null
  readonly from: Date
  readonly to: Date
  /** Only runs with a later id. Ids sort by time. */
  readonly after: string
  readonly limit: number
}

/** The kind of a longer input is not told apart: only the names of its fields would be used. */
const inputBytesMax = 2_000

export class PastRuns extends Context.Service<
  PastRuns,
  {
    /** Oldest first. Runs that a limit blocked, that were cancelled or that took another run's result called nobody, and are left out. */
    readonly page: (question: PastQuestion) => Effect.Effect<ReadonlyArray<PastRow>>
  }
>()("rungate/layers/simulation/PastRuns") {
  static readonly layer = Layer.effect(
    PastRuns,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const page = ({ org_id, capability, from, to, after, limit }: PastQuestion) =>
        pastRows(sql`
          SELECT r.run_id, r.created_at, r.kind, r.capability, r.provider, r.status, r.charged,
                 (extract(epoch FROM r.finished_at - r.created_at) * 1000)::float8 AS duration_ms,
                 CASE WHEN r.kind = 'capability' AND r.erased_at IS NULL THEN r.plan::text END AS plan,
                 CASE WHEN r.kind = 'capability' AND r.erased_at IS NULL THEN r.attempts::text END AS attempts,
                 CASE WHEN r.kind = 'capability' AND r.erased_at IS NULL AND octet_length(r.input::text) <= ${inputBytesMax}::int
                      THEN r.input::text END AS input
          FROM runs r
          WHERE r.org_id = ${org_id} AND r.run_id > greatest(${after}, run_id_at(${from}::timestamptz - interval '1 hour'))
            AND r.run_id < run_id_at(${to}::timestamptz + interval '1 hour')
            AND r.created_at >= ${from} AND r.created_at < ${to}
            AND r.status IN ('succeeded', 'no_match', 'failed', 'timed_out')
            -- A run that took another one's result called nobody.
            AND (r.attempts::text <> '[]' OR r.plan->'reuse' IS NULL)
            AND (${capability}::text IS NULL OR r.capability = ${capability})
          ORDER BY r.run_id LIMIT ${limit}`)
      return PastRuns.of({ page: (question) => Effect.orDie(page(question)) })
    })
  )
}
