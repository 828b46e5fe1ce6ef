/** The labels that a caller gave a run. Null when it gave none. Processes of older releases neither write nor read them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const runMetadata = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE runs ADD COLUMN metadata jsonb`
})
