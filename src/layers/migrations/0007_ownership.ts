/**
 * What an organization owns in the platform's accounts: inboxes and domains, noted in the very commit that ends the run which made
 * them, so that nothing is ever made and belongs to nobody.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const ownership = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE owned_resources (
      kind text NOT NULL CHECK (kind IN ('inbox', 'domain')),
      resource_id text NOT NULL,
      org_id text NOT NULL,
      run_id text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      -- A thing has one owner.
      PRIMARY KEY (kind, resource_id)
    )`
  yield* sql`CREATE INDEX owned_resources_org ON owned_resources (org_id, kind, created_at)`
  yield* sql`
    CREATE FUNCTION note_owned() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE owned text := lower(NEW.result ->> CASE NEW.capability WHEN 'email.inbox_create' THEN 'inbox_id' ELSE 'domain' END);
    BEGIN
      IF owned IS NOT NULL THEN
        INSERT INTO owned_resources (kind, resource_id, org_id, run_id)
        VALUES (CASE NEW.capability WHEN 'email.inbox_create' THEN 'inbox' ELSE 'domain' END, owned, NEW.org_id, NEW.run_id)
        ON CONFLICT DO NOTHING;
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER note_owned AFTER UPDATE ON runs FOR EACH ROW
    WHEN (NEW.status = 'succeeded' AND OLD.status <> 'succeeded' AND NEW.capability IN ('email.inbox_create', 'domain.register'))
    EXECUTE FUNCTION note_owned()`
})
