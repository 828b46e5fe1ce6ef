/**
 * Two installations in two schemas of one database: they share nothing, whatever they do. The whole suite runs in a named schema too
 * (`preparedSchema`), and real processes run in `public`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Client } from "pg"
import { type App, oneBackend, startApp, type Tenant, until } from "../../kit/app.ts"
import { freshDatabase } from "../../kit/postgres.ts"
import { roleProblems } from "../../../src/layers/postgres/SessionSettings.ts"

const found = async (tenant: Tenant, name: string) => {
  const { status, body } = await tenant.run({
    capability: "email.find",
    input: { full_name: name, company_domain: "acme.com" }
  })
  return [status, body["status"]]
}

/** Of what is in the schema, what has a part in another one: a reference, a type, a function, a default. */
const outside = `
  SELECT DISTINCT d.classid::regclass::text AS kind, d.objid::text AS object FROM pg_depend d
  JOIN (SELECT 'pg_class'::regclass AS classid, oid, relnamespace AS home FROM pg_class
        UNION ALL SELECT 'pg_proc'::regclass, oid, pronamespace FROM pg_proc
        UNION ALL SELECT 'pg_type'::regclass, oid, typnamespace FROM pg_type) own ON own.classid = d.classid AND own.oid = d.objid
  JOIN (SELECT 'pg_class'::regclass AS classid, oid, relnamespace AS home FROM pg_class
        UNION ALL SELECT 'pg_proc'::regclass, oid, pronamespace FROM pg_proc
        UNION ALL SELECT 'pg_type'::regclass, oid, typnamespace FROM pg_type) used ON used.classid = d.refclassid AND used.oid = d.refobjid
  WHERE own.home = $1::regnamespace AND used.home NOT IN (own.home, 'pg_catalog'::regnamespace, 'pg_toast'::regnamespace)`

describe.each(oneBackend)("two installations in one database, queues on %s", (backend) => {
  let url: string
  let first: App
  let second: App
  let tenants: ReadonlyArray<Tenant>
  const running: Array<App> = []
  const stop = async (app: App) => {
    running.splice(running.indexOf(app), 1)
    await app.stop()
  }
  const sql = async (text: string, values: ReadonlyArray<unknown> = []) => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(text, [...values])).rows
    } finally {
      await client.end()
    }
  }

  beforeAll(async () => {
    url = await freshDatabase()
    const start = (schema: string, redis?: string) =>
      startApp({
        backend,
        settings: {
          DATABASE_URL: url,
          RUNGATE_DATABASE_SCHEMA: schema,
          ...(redis === undefined ? {} : { REDIS_URL: redis })
        }
      })
    first = await start("cell_a")
    second = await start("cell_b", first.settings["REDIS_URL"])
    running.push(first, second)
    tenants = [await first.tenant("5.00"), await second.tenant("5.00")]
  })
  afterAll(async () => {
    await Promise.all(running.map((app) => app.stop()))
  })

  test("each runs for its own organization, and knows nothing of the other's", async () => {
    const [one, two] = tenants as [Tenant, Tenant]
    for (const tenant of [one, two]) {
      expect(await found(tenant, "Ada Lovelace")).toEqual([200, "succeeded"])
    }
    expect((await second.call(one.key, "GET", "/v1/wallet")).status).toBe(401)
    expect((await first.call(two.key, "GET", "/v1/wallet")).status).toBe(401)
    for (const schema of ["cell_a", "cell_b"])
      expect(await sql(`SELECT count(*)::int AS runs FROM ${schema}.runs`)).toEqual([{ runs: 1 }])
  })

  test("everything of an installation is in its schema, and nothing names another one", async () => {
    expect(await sql("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace")).toEqual([])
    expect(await sql("SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1")).toEqual(
      ["cell_a", "cell_b", "information_schema", "public"].map((nspname) => ({ nspname }))
    )
    expect(await sql(outside, ["cell_a"])).toEqual([])
    expect(
      await sql(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'cell_a'::regnamespace AND prosrc ~ 'cell_|public[.]'"
      )
    ).toEqual([])
  })

  test("a lock that one holds, the other one does not wait for", async () => {
    const holder = new Client({ connectionString: url, options: "-c search_path=cell_a" })
    await holder.connect()
    try {
      await holder.query("SELECT pg_advisory_lock(hashtext(current_schema()), hashtext('months'))")
      await holder.query("SELECT pg_advisory_lock(hashtext(current_schema()), 7411900)")
      const [, two] = tenants as [Tenant, Tenant]
      expect(await found(two, "Grace Hopper")).toEqual([200, "succeeded"])
      await until(
        "the other one counts its runs",
        () => sql("SELECT FROM cell_b.usage_queue"),
        (rows) => rows.length === 0
      )
      expect(await sql("SELECT cell_b.make_months('runs') AS late")).toEqual([{ late: false }])
    } finally {
      await holder.end()
    }
  })

  test("dropping one leaves the other one's books", async () => {
    const [, two] = tenants as [Tenant, Tenant]
    await stop(first)
    await sql("DROP SCHEMA cell_a CASCADE")
    expect(await found(two, "Alan Turing")).toEqual([200, "succeeded"])
    await second.books()
  })
})

test("a name that SQL would need quotes for, or that is the server's own, is refused", async () => {
  for (const name of ["Cell", "9lives", "pg_cells", "a-b", "a".repeat(41), 'x"; DROP SCHEMA public'])
    await expect(startApp({ settings: { RUNGATE_DATABASE_SCHEMA: name } })).rejects.toThrow(
      "RUNGATE_DATABASE_SCHEMA must have"
    )
})

test("a role that may not make the schema is told what to run", async () => {
  const url = new URL(await freshDatabase())
  const role = `reader_${process.pid}`
  const owner = new Client({ connectionString: url.toString() })
  await owner.connect()
  try {
    await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    url.username = role
    url.password = "secret"
    const settings = { DATABASE_URL: url.toString(), RUNGATE_DATABASE_SCHEMA: "cell_c" }
    await expect(startApp({ settings })).rejects.toThrow("CREATE SCHEMA cell_c AUTHORIZATION")
  } finally {
    await owner.query(`DROP ROLE ${role}`)
    await owner.end()
  }
})

test("behind a pooler the service asks for the role's search path", () => {
  const [problem] = roleProblems([], { role: "service", database: "rungate" }, "cell_a")
  expect(problem).toContain(`ALTER ROLE "service" IN DATABASE "rungate" SET search_path = 'cell_a';`)
  expect(roleProblems([], { role: "service", database: "rungate" })[0]).not.toContain("search_path")
})
