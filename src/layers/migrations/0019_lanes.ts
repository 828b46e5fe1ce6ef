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
})
