/**
 * The identity of the database, as a name for keys and channels in Redis.
 *
 * Two services on one Redis have different names, so they don't take each other's wake-ups or signals. The name contains the database's
 * oid, so a copy in the same server is another installation.
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
