/** The slow poll that backs up lost signals: finds the ended ids among those that a process waits for, in one statement. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { textValues, texts } from "../postgres/Rows.ts"

export class WaitStore extends Context.Service<
  WaitStore,
  {
    /** The ids among `ids` that have ended: final runs, and commands with a reply. */
    readonly ended: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
  }
>()("rungate/layers/runs/WaitStore") {
  static readonly layer = Layer.effect(
    WaitStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // The primary key of runs starts with the organization, which is unknown here. A run that is neither open nor waiting for
      // its admission or for another run is final.
      const ended = (ids: ReadonlyArray<string>) =>
        textValues(sql`
        SELECT asked.id FROM unnest(${texts(ids)}) AS asked(id)
        WHERE (asked.id LIKE 'run\\_%' AND NOT EXISTS (SELECT FROM open_runs o WHERE o.run_id = asked.id)
               AND NOT EXISTS (SELECT FROM mailbox m WHERE m.run_id = asked.id AND m.tag = 'Reserve')
               AND NOT EXISTS (SELECT FROM reuse_joins j WHERE j.run_id = asked.id))
           OR EXISTS (SELECT FROM replies r WHERE r.command_id = asked.id)`)
      return WaitStore.of({
        ended: (ids) => Effect.orDie(ended(ids))
      })
    })
  )
}
