/** Reads numbers for `/metrics` from the database, so they cover all processes. They never name an organization or a person. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { oneRowOf, rowsOf } from "../postgres/Rows.ts"

const RunCount = Schema.Struct({ capability: Schema.String, status: Schema.String, count: Schema.BigInt })
const runCountRows = rowsOf(RunCount.fields)

const Sums = Schema.Struct({
  reserved: Schema.BigInt,
  mailbox: Schema.BigInt,
  /** Seconds that the oldest command waits for its turn. 0 if none does. */
  oldest_command: Schema.Number,
  /** Seconds that the oldest run waits for a worker. 0 if none does. */
  oldest_run: Schema.Number
})
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
          SELECT (SELECT coalesce(sum(reserved), 0)::bigint FROM wallets) AS reserved, (SELECT count(*) FROM mailbox) AS mailbox,
                 (SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM mailbox WHERE parked IS NULL) AS oldest_command,
                 (SELECT coalesce(extract(epoch FROM now() - min(since)), 0)::float8 FROM open_runs WHERE state = 'queued') AS oldest_run`)
        return { runs, ...sums }
      }).pipe(Effect.orDie)
      return Stats.of({ read, memory: () => process.memoryUsage.rss() })
    })
  )
}
