/**
 * Lists runs that cost the platform more than they charged, for operators. The wallet's turn writes the rows (TurnWrite.ts).
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { LossTotal } from "../../schema/nouns/operator/Provider.ts"
import { rowsOf } from "../postgres/Rows.ts"

export const LossRow = Schema.Struct({
  run_id: Schema.String,
  org_id: Schema.String,
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  reason: Schema.String,
  measured: Schema.NullOr(Schema.Boolean),
  charge: Schema.BigInt,
  cost: Schema.BigInt,
  loss: Schema.BigInt,
  at: Schema.Date
})
export type LossRow = typeof LossRow.Type
const lossRows = rowsOf(LossRow.fields)

const lossTotalRows = rowsOf(LossTotal.fields)

export interface LossFilter {
  readonly org_id: string | null
  readonly since: Date | null
}

export class Losses extends Context.Service<
  Losses,
  {
    /** Newest first: those that come after the loss of run `before`, if it is not null. */
    readonly list: (filter: LossFilter, before: string | null, limit: number) => Effect.Effect<ReadonlyArray<LossRow>>
    /** Sums of the filtered losses by provider and reason, largest first. */
    readonly totals: (filter: LossFilter) => Effect.Effect<ReadonlyArray<LossTotal>>
    /** Sums of all losses, read from the table of running totals: the cost does not grow with the number of losses. */
    readonly sums: Effect.Effect<ReadonlyArray<LossTotal>>
  }
>()("rungate/layers/ledger/Losses") {
  static readonly layer = Layer.effect(
    Losses,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const matching = ({ org_id, since }: LossFilter) =>
        sql.and([
          ...(org_id === null ? [] : [sql`l.org_id = ${org_id}`]),
          ...(since === null ? [] : [sql`l.at >= ${since}`]),
          sql`true`
        ])
      const list = (filter: LossFilter, before: string | null, limit: number) =>
        lossRows(sql`
        SELECT l.run_id, l.org_id, r.capability, r.endpoint, l.provider, l.reason, l.measured, l.charge, l.cost, l.loss, l.at
        FROM losses l LEFT JOIN runs r ON r.org_id = l.org_id AND r.run_id = l.run_id
        WHERE ${matching(filter)} AND ${before === null ? sql`true` : sql`(l.at, l.run_id) < (SELECT at, run_id FROM losses WHERE run_id = ${before})`}
        ORDER BY l.at DESC, l.run_id DESC LIMIT ${limit}`)
      const totals = (filter: LossFilter) =>
        lossTotalRows(sql`
        SELECT l.provider, l.reason, count(*) AS runs, sum(l.loss)::bigint AS loss FROM losses l
        WHERE ${matching(filter)} GROUP BY 1, 2 ORDER BY loss DESC, 1, 2`)
      const sums = lossTotalRows(sql`
        SELECT nullif(provider, '') AS provider, reason, sum(runs)::bigint AS runs, sum(loss)::bigint AS loss FROM loss_sums
        GROUP BY 1, 2 ORDER BY 1, 2`)
      return Losses.of({
        list: (filter, before, limit) => Effect.orDie(list(filter, before, limit)),
        totals: (filter) => Effect.orDie(totals(filter)),
        sums: Effect.orDie(sums)
      })
    })
  )
}
