/**
 * What operators do in the console: looks into an organization's runs, and more changes in the audit log (a dead-lettered command that is
 * retried, an audit of all books that is recorded).
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
  yield* sql`
    CREATE TABLE operator_impersonations (
      impersonation_id text PRIMARY KEY,
      session_id text NOT NULL REFERENCES operator_sessions ON DELETE CASCADE,
      org_id text NOT NULL REFERENCES orgs,
      reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      CONSTRAINT impersonation_is_short CHECK (expires_at > created_at AND expires_at <= created_at + interval '1 hour')
    )`
  yield* sql`CREATE INDEX operator_impersonations_session ON operator_impersonations (session_id, org_id)`
  yield* audited({
    table: "operator_impersonations",
    noun: "impersonation",
    id: "org_id",
    hidden: ["impersonation_id", "session_id"],
    on: "INSERT"
  })
  yield* audited({ table: "audit_checks", noun: "books_check", id: "id", hidden: [], on: "INSERT", known: true })
})
