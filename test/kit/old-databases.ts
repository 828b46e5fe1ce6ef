/** Databases of earlier versions: their tables, and rows of today's service in them. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Migrator } from "effect/sql"
import type { Client } from "pg"
import { migrations } from "../../src/layers/postgres/migrations/index.ts"
import type { App } from "./app.ts"
import { freshDatabase } from "./postgres.ts"

/** The URL of a new database with the migrations before `first`, such as "0014". */
export const oldDatabase = async (first: string) => {
  const url = await freshDatabase()
  const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < first))
  const old = PgClient.layer({ url: Redacted.make(url) })
  await Effect.runPromise(
    Effect.scoped(Effect.provide(Migrator.make({})({ loader: Migrator.fromRecord(before) }), old))
  )
  return url
}

/** All rows of the tables that both have, whatever their triggers say. */
export const copyRows = async (from: App, to: Client) => {
  // What others refer to comes first.
  const tables = await to.query(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE '%migration%'
     ORDER BY tablename <> 'orgs', tablename <> 'users', tablename`
  )
  // They have a row since their migration.
  for (const single of ["installation", "service_mode", "schema_compatibility", "lane_count", "contact_secret"])
    await to.query(
      `DO $$ BEGIN ALTER TABLE ${single} DISABLE TRIGGER USER; DELETE FROM ${single}; EXCEPTION WHEN undefined_table THEN NULL; END $$`
    )
  for (const { tablename } of tables.rows) {
    const [shared] = await from.sql("SELECT to_regclass($1) AS name", [tablename])
    if (shared?.["name"] === null) continue
    await to.query(`ALTER TABLE ${tablename} DISABLE TRIGGER USER`)
    const [all] = await from.sql(`SELECT json_agg(t)::text AS rows FROM ${tablename} t`)
    const columns = await to.query(
      `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS names FROM pg_attribute
       WHERE attrelid = '${tablename}'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`
    )
    const { names } = columns.rows[0]
    await to.query(
      `INSERT INTO ${tablename} (${names}) OVERRIDING SYSTEM VALUE
       SELECT ${names} FROM json_populate_recordset(null::${tablename}, $1)`,
      [all?.["rows"] ?? "[]"]
    )
  }
  for (const { tablename } of tables.rows) await to.query(`ALTER TABLE ${tablename} ENABLE TRIGGER USER`)
  await to.query("SELECT setval(pg_get_serial_sequence('mailbox', 'id'), 1000000)")
}
