/**
 * Each migration after the schema of record leaves the release before it working: CONTRIBUTING.md, "Migrations".
 *
 * What removes something needs a line in migrations/contracts.ts. What locks a big table for long needs a line in `accepted` here that says
 * why it does not stop anybody.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Statement } from "effect/sql"
import { Client } from "pg"
import { migrateWith, type Migrations } from "../../../src/layers/postgres/Migrate.ts"
import { contracts } from "../../../src/layers/postgres/migrations/contracts.ts"
import { migrations } from "../../../src/layers/postgres/migrations/index.ts"
import { freshDatabase, preparedDatabase } from "../../kit/postgres.ts"
import { findings, shapeOf } from "./shape.ts"

/** By migration: findings that are slow only on paper, and why. */
const accepted: Readonly<Record<string, Readonly<Record<string, string>>>> = {}

const connect = async (connectionString: string) => {
  const client = new Client({ connectionString })
  await client.connect()
  return client
}

describe("every migration", () => {
  const [first = "", ...checked] = Object.keys(migrations)
  const found = new Map<string, ReturnType<typeof findings>>()

  beforeAll(async () => {
    const url = await freshDatabase()
    const client = await connect(url)
    const layer = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
    const old: Migrations = Object.fromEntries(Object.entries(migrations).filter(([name]) => name === first))
    const statements: Array<string> = []
    const recording = Effect.provideService(Statement.CurrentTransformer, (statement) =>
      Effect.sync(() => {
        statements.push(statement.compile()[0])
        return statement
      })
    )
    const work = Effect.gen(function* () {
      yield* migrateWith(old, {}, true)
      const done = { ...old }
      for (const name of checked) {
        const before = yield* Effect.promise(() => shapeOf(client))
        statements.length = 0
        Object.assign(done, { [name]: migrations[name as keyof typeof migrations] })
        yield* recording(migrateWith(done, contracts, true))
        const after = yield* Effect.promise(() => shapeOf(client))
        found.set(name, findings(before, after, statements))
      }
    })
    await Effect.runPromise(Effect.provide(work, layer))
    await client.end()
  })

  test.each(checked)("%s lets the release before it go on", (name) => {
    const { breaks, slow } = found.get(name) ?? expect.unreachable()
    if (contracts[name] === undefined) expect(breaks).toEqual([])
    expect(slow.filter((one) => accepted[name]?.[one] === undefined)).toEqual([])
  })

  test("accepted findings and contracts are of migrations that have them", () => {
    for (const [name, reasons] of Object.entries(accepted))
      expect(Object.keys(reasons).filter((one) => !found.get(name)?.slow.includes(one))).toEqual([])
    for (const [name, { compatible_from }] of Object.entries(contracts)) {
      expect(found.get(name)?.breaks ?? []).not.toEqual([])
      expect(compatible_from).toBeLessThan(Number.parseInt(name, 10))
    }
  })
})

describe("what is found", () => {
  let client: Client
  beforeAll(async () => {
    client = await connect(await preparedDatabase())
  })
  afterAll(() => client.end())

  const check = async (statements: ReadonlyArray<string>) => {
    const before = await shapeOf(client)
    await client.query("BEGIN")
    try {
      for (const text of statements) await client.query(text)
      return findings(before, await shapeOf(client), statements)
    } finally {
      await client.query("ROLLBACK")
    }
  }

  test.each([
    ["DROP TABLE losses CASCADE", "table losses is gone"],
    ["ALTER TABLE losses RENAME TO costs", "table losses is gone"],
    ["ALTER TABLE orgs DROP COLUMN name", "column orgs.name is gone"],
    ["ALTER TABLE orgs RENAME COLUMN name TO title", "column orgs.name is gone"],
    [
      "ALTER TABLE orgs ALTER COLUMN name TYPE varchar(10)",
      "column orgs.name changes from text to character varying(10)"
    ],
    ["ALTER TABLE api_keys ALTER COLUMN revoked_at SET NOT NULL", "column api_keys.revoked_at becomes NOT NULL"],
    ["ALTER TABLE runs ADD COLUMN extra int NOT NULL", "new column runs.extra is NOT NULL without a default"],
    [
      "ALTER TABLE wallets DROP CONSTRAINT wallets_pkey CASCADE",
      "unique index wallets_pkey of wallets is gone, which ON CONFLICT may need"
    ],
    [
      "DROP FUNCTION room_for_runs(text[], bigint[], bigint)",
      "function room_for_runs(text[],bigint[],bigint) returns TABLE(org_id text, room bigint) is gone"
    ]
  ])("%s breaks the release before", async (text, finding) => {
    expect((await check([text])).breaks).toContain(finding)
  })

  test.each([
    ["ALTER TABLE runs ADD COLUMN extra uuid DEFAULT gen_random_uuid()", "table runs_first is rewritten"],
    ["CREATE INDEX extra ON ledger (amount)", "index extra of ledger is built under a lock"],
    [
      "ALTER TABLE ledger ADD UNIQUE (amount, run_id)",
      "index ledger_amount_run_id_key of ledger is built under a lock"
    ],
    [
      "ALTER TABLE ledger ADD CONSTRAINT extra CHECK (amount IS NOT NULL)",
      "constraint ledger.extra reads all rows under a lock: add it NOT VALID"
    ],
    [
      "ALTER TABLE runs ADD FOREIGN KEY (org_id) REFERENCES orgs",
      "constraint runs.runs_org_id_fkey reads all rows under a lock: add it NOT VALID"
    ],
    ["UPDATE runs SET hold = hold + 1", "UPDATE of runs: change rows in a background migration"],
    ["DELETE FROM losses WHERE true", "DELETE of losses: change rows in a background migration"],
    [
      "INSERT INTO orgs (org_id, name) SELECT org_id, org_id FROM runs WHERE false",
      "INSERT of runs: change rows in a background migration"
    ]
  ])("%s stops the release before", async (text, finding) => {
    expect((await check([text])).slow).toContain(finding)
  })

  test("what only adds is allowed", async () => {
    expect(
      await check([
        "CREATE TABLE extra (org_id text NOT NULL REFERENCES orgs, amount bigint CHECK (amount > 0))",
        "CREATE INDEX extra_amount ON extra (amount)",
        "INSERT INTO extra SELECT 'x', 1 WHERE false",
        "ALTER TABLE runs ADD COLUMN extra int NOT NULL DEFAULT 0",
        "ALTER TABLE runs ADD CONSTRAINT extra CHECK (extra >= 0) NOT VALID",
        "ALTER TABLE orgs ALTER COLUMN name DROP NOT NULL",
        "ALTER TABLE background_migrations ADD COLUMN note text CHECK (note <> '')",
        "CREATE OR REPLACE FUNCTION run_rules() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$"
      ])
    ).toEqual({ breaks: [], slow: [] })
  })
})
