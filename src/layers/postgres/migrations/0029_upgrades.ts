/**
 * Which releases may use this schema, and how far background migrations are.
 *
 * The owner's migrations write the first table. Workers write the second one.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const upgrades = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE schema_compatibility (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      -- Processes that know only older schemas refuse to start.
      compatible_from int NOT NULL CHECK (compatible_from > 0)
    )`
  yield* sql`INSERT INTO schema_compatibility (compatible_from) VALUES (25)`
  yield* sql`
    CREATE TABLE background_migrations (
      name text PRIMARY KEY,
      -- Where the next batch continues. Empty: at the start.
      cursor text NOT NULL DEFAULT '',
      done bigint NOT NULL DEFAULT 0 CHECK (done >= 0),
      -- An estimate.
      total bigint NOT NULL CHECK (total >= 0),
      started_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz
    )`
})
