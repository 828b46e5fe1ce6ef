/** Numbers for `/metrics` over all processes: counts and sums, never an organization or a subject. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

export interface Figures {
  readonly runs: ReadonlyArray<{ readonly capability: string; readonly status: string; readonly count: bigint }>
  readonly reserved: bigint
  readonly mailbox: bigint
}

/** Counts open runs only: counting the whole table of runs at every scrape would cost too much. */
export class Stats extends Context.Service<
  Stats,
  { readonly read: Effect.Effect<Figures>; readonly memory: () => number }
>()("rungate/layers/platform/Stats") {
  static readonly layer = Layer.effect(
    Stats,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = Effect.gen(function* () {
        const runs = yield* sql<{ capability: string; status: string; count: bigint }>`
          SELECT coalesce(r.capability, 'endpoint') AS capability, o.state AS status, count(*) AS count
          FROM open_runs o JOIN runs r ON r.org_id = o.org_id AND r.run_id = o.run_id GROUP BY 1, 2`
        const [sums] = yield* sql<{ reserved: bigint; mailbox: bigint }>`
          SELECT (SELECT coalesce(sum(reserved), 0)::bigint FROM wallets) AS reserved, (SELECT count(*) FROM mailbox) AS mailbox`
        if (sums === undefined) return yield* Effect.die(new Error("The sums for /metrics returned no row."))
        return { runs, ...sums }
      }).pipe(Effect.orDie)
      return Stats.of({ read, memory: () => process.memoryUsage.rss() })
    })
  )
}
