/**
 * What operators imported: one document per provider, replaced as a whole, so that no reader ever sees half an import.
 *
 * Endpoints that a new document no longer has stay in `retired`, because runs refer to them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const catalog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE SEQUENCE catalog_revisions`
  yield* sql`
    CREATE TABLE catalog_documents (
      provider text PRIMARY KEY,
      -- New with every import, over all providers: who has seen a revision has seen its document.
      revision bigint NOT NULL UNIQUE DEFAULT nextval('catalog_revisions'),
      -- gzipped JSON.
      document bytea NOT NULL,
      retired json NOT NULL DEFAULT '[]',
      endpoints integer NOT NULL CHECK (endpoints >= 0),
      imported_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`
    CREATE TABLE actor_inputs (
      provider text NOT NULL,
      path text NOT NULL,
      body json NOT NULL,
      example json,
      loaded_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (provider, path)
    )`
})
