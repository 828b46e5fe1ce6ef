/** Functions of the owner: what the service may do to tables only in this one way. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Makes a function that works with its owner's privileges, because the service's role may change no table. */
export const ownerFunction = Effect.fnUntraced(function* (head: string, body: string, settings = "") {
  const sql = yield* SqlClient.SqlClient
  const schema = yield* sql`SELECT quote_ident(current_schema()) AS name`
  yield* sql.unsafe(`
    CREATE OR REPLACE FUNCTION ${head} LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = ${String(schema[0]?.["name"])}, pg_temp ${settings} AS $$ ${body} $$`)
})
