/**
 * What runs charged, and what their providers cost, by provider and by offer or raw endpoint. For operators.
 *
 * It reads the runs themselves, so the sums agree with the ledger. Where a provider reported no cost, a run's cost is its charge without the
 * markup. The cost of a run includes reported costs of attempts at other providers, and of runs that were charged nothing.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { RecordedCost } from "../../schema/nouns/operator/Bill.ts"
import { EndedRuns } from "../../schema/nouns/operator/Provider.ts"
import { rowsOf } from "../postgres/Rows.ts"

export const MarginRow = Schema.Struct({
  provider: Schema.NullOr(Schema.String),
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  runs: Schema.BigInt,
  charged: Schema.BigInt,
  cost: Schema.BigInt,
  /** Charged runs of earlier versions, whose cost was not stored. */
  unknown: Schema.BigInt
})
export type MarginRow = typeof MarginRow.Type
const marginRows = rowsOf(MarginRow.fields)

const costRows = rowsOf({ run_id: Schema.String, day: Schema.String, cost: Schema.BigInt })

const endedRows = rowsOf(EndedRuns.fields)

/** A report reads every run of its days, which may be millions. */
const timeoutSeconds = 600

export class Margins extends Context.Service<
  Margins,
  {
    /** Runs that ended in the last `days` days and charged or cost something. */
    readonly list: (days: number) => Effect.Effect<ReadonlyArray<MarginRow>>
    /** All runs that ended in these days, by how they ended. */
    readonly ended: (days: number) => Effect.Effect<ReadonlyArray<EndedRuns>>
    /** What runs that this provider delivered have cost, by the days on which they ended, the last one included. */
    readonly costs: (
      provider: string,
      from: string,
      to: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<RecordedCost>>
  }
>()("rungate/layers/ledger/Margins") {
  static readonly layer = Layer.effect(
    Margins,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const slowly = <A, E>(read: Effect.Effect<A, E>) =>
        Effect.orDie(
          sql.withTransaction(
            Effect.andThen(sql`SELECT set_config('statement_timeout', ${`${timeoutSeconds}s`}, true)`, read)
          )
        )
      const within = (days: number) => sql`finished_at >= now() - ${days}::int * interval '1 day'`
      return Margins.of({
        costs: (provider, from, to, limit) =>
          slowly(
            costRows(sql`
              SELECT run_id, to_char(finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, provider_cost AS cost FROM runs
              WHERE provider = ${provider} AND provider_cost > 0 AND finished_at >= ${from}::date::timestamp AT TIME ZONE 'UTC'
                AND finished_at < (${to}::date + 1)::timestamp AT TIME ZONE 'UTC'
              LIMIT ${limit}`)
          ),
        list: (days) =>
          slowly(
            marginRows(sql`
              SELECT provider, capability, endpoint, count(*) AS runs, sum(coalesce(charged, 0))::bigint AS charged,
                     sum(coalesce(provider_cost, 0))::bigint AS cost,
                     count(*) FILTER (WHERE charged > 0 AND provider_cost IS NULL) AS unknown
              FROM runs WHERE ${within(days)} AND (charged > 0 OR provider_cost > 0)
              GROUP BY 1, 2, 3`)
          ),
        ended: (days) =>
          slowly(
            endedRows(
              sql`SELECT status, count(*) AS runs FROM runs WHERE ${within(days)} GROUP BY 1 ORDER BY 2 DESC, 1`
            )
          )
      })
    })
  )
}
