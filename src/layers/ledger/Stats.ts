/** Reads numbers for `/metrics` from the database, so they cover all processes. They never name an organization or a person. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { oneRowOf, rowsOf } from "../postgres/Rows.ts"

const RunCount = Schema.Struct({ capability: Schema.String, status: Schema.String, count: Schema.BigInt })
const runCountRows = rowsOf(RunCount.fields)

const Sums = Schema.Struct({ reserved: Schema.BigInt, mailbox: Schema.BigInt })
const sumsRow = oneRowOf(Sums.fields)

export type Figures = typeof Sums.Type & { readonly runs: ReadonlyArray<typeof RunCount.Type> }

/** Counts only runs that have not ended, because counting the whole table at every scrape would be slow. */
export class Stats extends Context.Service<
  Stats,
  { readonly read: Effect.Effect<Figures>; readonly memory: () => number }
>()("rungate/layers/ledger/Stats") {
  static readonly layer = Layer.effect(
    Stats,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = Effect.gen(function* () {
        const runs = yield* runCountRows(sql`
          SELECT coalesce(r.capability, 'endpoint') AS capability, o.state AS status, count(*) AS count
          FROM open_runs o JOIN runs r ON r.org_id = o.org_id AND r.run_id = o.run_id GROUP BY 1, 2`)
        const sums = yield* sumsRow(sql`
          SELECT (SELECT coalesce(sum(reserved), 0)::bigint FROM wallets) AS reserved, (SELECT count(*) FROM mailbox) AS mailbox`)
        return { runs, ...sums }
      }).pipe(Effect.orDie)
      return Stats.of({ read, memory: () => process.memoryUsage.rss() })
    })
  )
}
