/** The slow poll behind the signals: which of these ids are known to be done, in one look-up for all waiters of a process. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "../postgres/Columns.ts"

export class WaitStore extends Context.Service<
  WaitStore,
  {
    /** The run ids among `ids` that are final, and the command ids that have a reply. */
    readonly known: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
  }
>()("rungate/layers/runs/WaitStore") {
  static readonly layer = Layer.effect(
    WaitStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // Runs are keyed by organization first; an open run's absence from the small table says that it is final.
      const known = (ids: ReadonlyArray<string>) => sql<{ id: string }>`
        SELECT asked.id FROM unnest(${texts(ids)}) AS asked(id)
        WHERE (asked.id LIKE 'run\\_%' AND NOT EXISTS (SELECT FROM open_runs o WHERE o.run_id = asked.id)
               AND NOT EXISTS (SELECT FROM mailbox m WHERE m.run_id = asked.id AND m.tag = 'Reserve'))
           OR EXISTS (SELECT FROM replies r WHERE r.command_id = asked.id)`
      return WaitStore.of({
        known: (ids) =>
          known(ids).pipe(
            Effect.map((rows) => rows.map((row) => row.id)),
            Effect.orDie
          )
      })
    })
  )
}
