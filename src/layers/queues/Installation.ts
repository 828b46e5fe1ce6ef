/**
 * What keeps this installation apart from others: its schema in the database, and the prefix of its keys and channels in Redis.
 *
 * Services with different databases can share one Redis, because their prefixes differ. So they don't take each other's wake-ups or
 * signals. The prefix contains the database's oid, so a copy of a database on the same server has another prefix.
 * Services in different schemas of one database differ by `installation`, a table of which each schema has its own.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../postgres/Rows.ts"

const nameRows = rowsOf({ name: Schema.String, schema: Schema.String })

export class Installation extends Context.Service<
  Installation,
  {
    /** The prefix of every key and channel in Redis: `rungate:<id>-<oid>`. */
    readonly redisPrefix: string
    /** The schema that everything of the installation lives in. */
    readonly schema: string
  }
>()("rungate/layers/queues/Installation") {
  static readonly layer = Layer.effect(
    Installation,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* nameRows(sql`
        SELECT i.id || '-' || d.oid AS name, current_schema()::text AS schema FROM installation i, pg_database d WHERE d.datname = current_database()`)
      if (row === undefined) return yield* Effect.die(new Error("the table installation has no row"))
      return { redisPrefix: `rungate:${row.name}`, schema: row.schema }
    })
  )
}
