/**
 * Puts more changes by operators into the audit log: a dead-lettered command that is retried, and an audit of all books that is recorded.
 *
 * The reason of a dead letter can contain internals. Admins of the organization read the log, so its entry has the kind of the command only.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audited } from "./audited.ts"

export const operatorChanges = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION audit_retry() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM audit_write(audit_actor(), NEW.org_id, 'command.retried', coalesce(NEW.run_id, NEW.org_id), NULL,
                          jsonb_build_object('command', NEW.tag));
      RETURN NULL;
    END $$`
  // False for every update of a turn or a sweep, which then costs one comparison.
  yield* sql`
    CREATE TRIGGER audited_retry AFTER UPDATE ON mailbox FOR EACH ROW
    WHEN (OLD.parked IS NOT NULL AND NEW.parked IS NULL) EXECUTE FUNCTION audit_retry()`
  yield* audited({ table: "audit_checks", noun: "books_check", id: "id", hidden: [], on: "INSERT", known: true })
})
