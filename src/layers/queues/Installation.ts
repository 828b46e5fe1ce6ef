/**
 * Which database this process works on, as a name for whatever it keeps outside of it: keys and channels in Redis.
 *
 * Two services on one Redis have different names, so neither takes the other's wake-ups or hears its signals. The database's
 * own number is part of the name: a copy of a database in the same server is another installation.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../postgres/Rows.ts"

const nameRows = rowsOf({ name: Schema.String })

export class Installation extends Context.Service<
  Installation,
  {
    /** Begins every key and channel of this installation in Redis: `rungate:<id>`. */
    readonly redisPrefix: string
  }
>()("rungate/layers/queues/Installation") {
  static readonly layer = Layer.effect(
    Installation,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* nameRows(sql`
        SELECT i.id || '-' || d.oid AS name FROM installation i, pg_database d WHERE d.datname = current_database()`)
      if (row === undefined) return yield* Effect.die(new Error("the table installation has no row"))
      return { redisPrefix: `rungate:${row.name}` }
    })
  )
}
