/**
 * Lanes that no stranger stops.
 *
 * A turn that meets another one is undone by an error of its own, so that errors of class 22 (a string that Postgres can't read)
 * are a command's fault and nothing else.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const lanes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Volatile: a call that the planner could make in advance would undo every turn.
  yield* sql`
    CREATE FUNCTION rungate_turn_conflict() RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
    BEGIN RAISE EXCEPTION 'another turn has changed what this one has read' USING ERRCODE = 'RG001'; END $$`
  // What tells this installation from others that share a Redis with it.
  yield* sql`
    CREATE TABLE installation (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      created_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`INSERT INTO installation DEFAULT VALUES`
})
