/**
 * The release after this one, for the test of upgrades: the sources with what a release may bring. A migration of tables that every run writes,
 * an index of one of them, and a background migration. It is run like `rungate`.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { background, type BackgroundMigration } from "../../src/layers/postgres/migrations/background.ts"
import { indexes } from "../../src/layers/postgres/migrations/indexes.ts"
import { migrations } from "../../src/layers/postgres/migrations/index.ts"
import { rowsOf } from "../../src/layers/postgres/Rows.ts"

const statements = [
  "ALTER TABLE runs ADD COLUMN next_note text, ADD CONSTRAINT runs_next_note CHECK (length(next_note) < 100) NOT VALID",
  "ALTER TABLE wallets ADD COLUMN next_count bigint NOT NULL DEFAULT 0",
  "CREATE TABLE next_orgs (org_id text PRIMARY KEY REFERENCES orgs)",
  `CREATE FUNCTION next_counts() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN NEW.next_count := OLD.next_count + 1; RETURN NEW; END $$`,
  "CREATE TRIGGER next_counts BEFORE UPDATE ON wallets FOR EACH ROW EXECUTE FUNCTION next_counts()"
]
const orgRows = rowsOf({ org_id: Schema.String })

const nextOrgs: BackgroundMigration = {
  total: Effect.succeed(1),
  batch: Effect.fnUntraced(function* (cursor: string) {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* orgRows(sql`
      INSERT INTO next_orgs (org_id) SELECT org_id FROM orgs WHERE org_id > ${cursor} ORDER BY org_id LIMIT 2 RETURNING org_id`)
    const last = rows.at(-1)
    return last === undefined ? null : { cursor: last.org_id, rows: rows.length }
  })
}

Object.assign(migrations, {
  "9001_next": Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(statements, (text) => sql.unsafe(text), { discard: true })
  )
})
Object.assign(indexes, { ledger_next: "ON ledger (amount)" })
Object.assign(background, { next_orgs: nextOrgs })
await import("../../src/main.ts")
