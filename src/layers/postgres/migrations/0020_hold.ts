/**
 * A raw run holds at least what its rate card says it costs, and something where there is no rate card.
 *
 * This is the second place of a rule of schema/runs/RawHold.ts: whatever a process computes, no raw run without a hold enters
 * unless its rate card says $0. The marketplace enforces an actor's cap, so an actor may hold less than its estimate.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const hold = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION run_holds_too_little() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'run % holds less than its rate card says', NEW.run_id USING ERRCODE = 'check_violation'; END $$`
  // Not a CHECK: that would also be asked when an older run ends or is erased. What has ended can cost nothing any more.
  yield* sql`
    CREATE TRIGGER run_holds_too_little BEFORE INSERT ON runs FOR EACH ROW
    WHEN (NEW.kind = 'endpoint' AND NEW.status = 'created' AND NEW.hold < CASE NEW.plan #>> '{raw,body_type}'
      WHEN 'actor_input' THEN 1
      ELSE coalesce((NEW.plan #>> '{raw,estimate}')::numeric * 1000000, 1) END)
    EXECUTE FUNCTION run_holds_too_little()`
})
