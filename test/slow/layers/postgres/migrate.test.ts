/**
 * Migrations beside a running service: they wait for locks only briefly, are undone as a whole, run once however many processes start, and
 * say which releases may use their schema.
 */
import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { Effect, Fiber, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import { DatabaseLayer } from "../../../../src/layers/postgres/Database.ts"
import { prepareSchemaOf, schemaVersion } from "../../../../src/layers/postgres/DatabaseSchema.ts"
import { type Migrations, migrateWith } from "../../../../src/layers/postgres/Migrate.ts"
import type { Contracts } from "../../../../src/layers/postgres/migrations/contracts.ts"
import { migrations } from "../../../../src/layers/postgres/migrations/index.ts"
import { Settings } from "../../../../src/layers/platform/Settings.ts"
import { until } from "../../../kit/app.ts"
import { preparedDatabase } from "../../../kit/postgres.ts"

const opened: Array<Client> = []
const connect = async (connectionString: string) => {
  const client = new Client({ connectionString })
  client.on("error", () => {})
  await client.connect()
  opened.push(client)
  return client
}
// The first one starts the server.
beforeAll(async () => {
  await preparedDatabase()
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.end()))
})

const none: Contracts = {}

/** A database as the service's first start leaves it, and what runs on it as the service does. */
const open = async () => {
  const url = await preparedDatabase()
  const logs: Array<string> = []
  const log = Logger.make(({ message }) => void logs.push(String(message)))
  const layer = DatabaseLayer.pipe(
    Layer.provide(Settings.layerFrom({ DATABASE_URL: url, REDIS_URL: "" })),
    Layer.provideMerge(Logger.layer([log]))
  )
  const run = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    Effect.runPromise(Effect.provide(effect, layer))
  /** The message of the failure, also of the start itself. */
  const failure = (effect: Effect.Effect<unknown, unknown, SqlClient.SqlClient>) =>
    Effect.provide(effect, layer).pipe(
      Effect.flip,
      Effect.map((error) => (error instanceof Error ? error.message : String(error))),
      Effect.runPromise
    )
  return { client: await connect(url), url, logs, run, failure }
}

const statement = (text: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql.unsafe(text)))
const added = (more: Migrations): Migrations => ({ ...migrations, ...more })

const columns = async (client: Client, table: string) =>
  (
    await client.query("SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0", [table])
  ).rows.map(({ attname }) => attname)
const version = async (client: Client) =>
  (await client.query("SELECT max(migration_id) AS version FROM effect_sql_migrations")).rows[0].version

describe("locks", () => {
  const addsNote = added({ "9001_note": statement("ALTER TABLE api_keys ADD COLUMN note text") })
  const waits = `
    SELECT count(*)::int AS n FROM pg_locks
    WHERE relation = 'api_keys'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted`

  test("a migration that waits for a long transaction lets other statements through, and runs after it", async () => {
    const { client, url, run, logs } = await open()
    const report = await connect(url)
    await report.query("BEGIN")
    await report.query("SELECT count(*) FROM api_keys")
    const migrating = Effect.runFork(Effect.promise(() => run(migrateWith(addsNote, none, false))))
    for (const _ of [1, 2]) {
      await until(
        "the migration waits",
        async () => (await client.query(waits)).rows[0].n,
        (n) => n === 1
      )
      // Queued behind the ALTER TABLE, it would only end with the report, which is still open.
      expect((await client.query("SELECT count(*)::int AS n FROM api_keys")).rows[0].n).toBe(0)
      await until(
        "the migration gave up for now",
        async () => (await client.query(waits)).rows[0].n,
        (n) => n === 0
      )
    }
    expect(await columns(client, "api_keys")).not.toContain("note")
    expect(logs).toEqual([expect.stringContaining("A migration waits for tables that a long transaction uses.")])
    await report.query("COMMIT")
    await Effect.runPromise(Fiber.join(migrating))
    expect(await columns(client, "api_keys")).toContain("note")
    expect(await version(client)).toBe(9001)
  })
})

describe("transactions", () => {
  test("a migration that fails is undone, and those before it stay", async () => {
    const { client, failure, run } = await open()
    const good = { "9001_good": statement("CREATE TABLE good (n int)") }
    const bad = { "9002_bad": Effect.andThen(statement("CREATE TABLE half (n int)"), statement("SELECT 1 / 0")) }
    expect(await failure(migrateWith(added({ ...good, ...bad }), none, false))).toContain('"9002_bad" failed')
    expect(await version(client)).toBe(9001)
    expect((await client.query("SELECT to_regclass('good') AS good, to_regclass('half') AS half")).rows).toEqual([
      { good: "good", half: null }
    ])
    await run(migrateWith(added({ ...good, "9002_bad": statement("CREATE TABLE half (n int)") }), none, false))
    expect(await version(client)).toBe(9002)
  })

  test("one that starts after another was stopped between two migrations runs the rest", async () => {
    const { client, run } = await open()
    const one = { "9001_one": statement("CREATE TABLE one (n int)") }
    await run(migrateWith(added(one), none, false))
    await run(prepareSchemaOf(added({ ...one, "9002_two": statement("CREATE TABLE two (n int)") }), none, {}))
    expect(await version(client)).toBe(9002)
    expect((await client.query("SELECT to_regclass('two') AS two")).rows).toEqual([{ two: "two" }])
  })

  test("several processes that start at once run each migration once", async () => {
    const { client, run } = await open()
    await client.query("CREATE TABLE made (n int)")
    const all = added({
      "9001_one": statement("INSERT INTO made VALUES (1)"),
      "9002_two": statement("INSERT INTO made VALUES (2)")
    })
    await Promise.all([1, 2, 3].map(() => run(prepareSchemaOf(all, none, {}))))
    expect((await client.query("SELECT n FROM made ORDER BY n")).rows).toEqual([{ n: 1 }, { n: 2 }])
  })
})

describe("a database from before the first release", () => {
  test("is refused in a plain sentence, whoever starts on it, and stays as it is", async () => {
    const { client, failure } = await open()
    // The names that the first migrations had then.
    await client.query(
      "UPDATE effect_sql_migrations SET name = 'accounts'; INSERT INTO effect_sql_migrations (migration_id, name) VALUES (83, 'row_rules')"
    )
    const refused =
      "This database was made by a development version of Rungate, before release 0.1.0, and can't be upgraded. Nothing in it was changed. Point DATABASE_URL at an empty database, or RUNGATE_DATA_DIR at a new folder for the embedded one, and start again."
    expect(await failure(Effect.void)).toBe(refused)
    await client.query("DELETE FROM effect_sql_migrations WHERE migration_id = 83")
    expect(await failure(Effect.void)).toBe(refused)
    expect((await client.query("SELECT migration_id, name FROM effect_sql_migrations")).rows).toEqual([
      { migration_id: 1, name: "accounts" }
    ])
  })
})

describe("indexes", () => {
  const wanted = { ledger_extra: "ON ledger (amount)", orgs_extra: "ON orgs (name)" }
  const prepare = prepareSchemaOf(migrations, none, wanted)
  const valid = async (client: Client) =>
    (
      await client.query(
        "SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index WHERE indexrelid::regclass::text LIKE '%_extra' ORDER BY 1"
      )
    ).rows

  test("are built once by processes that start at once, also where a killed build has left one invalid", async () => {
    const { client, run, logs } = await open()
    // What a build leaves behind that was killed.
    await client.query("CREATE INDEX ledger_extra ON ledger (amount)")
    await client.query("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ledger_extra'::regclass")
    await Promise.all([1, 2, 3].map(() => run(prepare)))
    expect(await valid(client)).toEqual([
      { name: "ledger_extra", valid: true },
      { name: "orgs_extra", valid: true }
    ])
    const building = (name: string) => `database: building the index ${name}. Running processes go on meanwhile.`
    expect(logs).toEqual([building("ledger_extra"), building("orgs_extra")])
  })

  test("are built while others write", async () => {
    const { client, run, url } = await open()
    const writer = await connect(url)
    await writer.query("BEGIN")
    await writer.query("INSERT INTO orgs (org_id, name) VALUES ('org_a', 'A')")
    const building = Effect.runFork(Effect.promise(() => run(prepare)))
    const waits = "SELECT count(*)::int AS n FROM pg_stat_progress_create_index"
    await until(
      "the build waits for the writer",
      async () => (await client.query(waits)).rows[0].n,
      (n) => n === 1
    )
    await client.query("INSERT INTO orgs (org_id, name) VALUES ('org_b', 'B')")
    expect((await valid(client)).filter((one) => one.valid && one.name === "orgs_extra")).toEqual([])
    await writer.query("COMMIT")
    await Effect.runPromise(Fiber.join(building))
    expect((await valid(client)).every((one) => one.valid)).toBe(true)
  })
})

describe("releases", () => {
  const drops = added({ "9001_less": statement("ALTER TABLE orgs DROP COLUMN name") })
  const contractOf = (after: ReadonlyArray<string>): Contracts => ({
    "9001_less": { compatible_from: 9000, after, because: "nobody reads names" }
  })

  test("a schema that only has more is used by older releases, which say so", async () => {
    const { run, logs } = await open()
    await run(migrateWith(added({ "9001_more": statement("CREATE TABLE more (n int)") }), none, false))
    expect(logs).toEqual([])
    await run(prepareSchemaOf(migrations, none, {}))
    // The layer under `run` is a starting process too.
    expect(new Set(logs)).toEqual(
      new Set([
        `database: a newer release has migrated the schema to version 9001. This release knows version ${schemaVersion} and is still supported.`
      ])
    )
  })

  test("a schema that has less refuses the releases before it", async () => {
    const { run, failure } = await open()
    await run(migrateWith(drops, contractOf([]), false))
    expect(await failure(Effect.void)).toBe(
      `A newer release has migrated this database to schema version 9001, and it no longer works with releases that know only version 8999 or older. This release knows version ${schemaVersion}. Install the release that migrated the database, or a newer one.`
    )
  })

  test("less comes after the background migrations that it needs", async () => {
    const { client, run, failure } = await open()
    expect(await failure(prepareSchemaOf(drops, contractOf(["names"]), {}))).toContain(
      "Migration 9001_less must wait until the background migration names has finished."
    )
    await client.query("INSERT INTO background_migrations (name, total) VALUES ('names', 1)")
    expect(await failure(prepareSchemaOf(drops, contractOf(["names"]), {}))).toContain("must wait")
    expect(await columns(client, "orgs")).toContain("name")
    await client.query("UPDATE background_migrations SET finished_at = now()")
    await run(migrateWith(drops, contractOf(["names"]), false))
    expect(await columns(client, "orgs")).not.toContain("name")
  })
})
