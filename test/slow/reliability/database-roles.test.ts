/**
 * The service under a role that owns nothing: it does all of its work, and whoever takes over its connection can neither change the
 * ledger nor switch its triggers off.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { Client } from "pg"
import { walletLane } from "../../../src/layers/accounts/WalletLanes.ts"
import { type Reply, startApp, until, verify } from "../../kit/app.ts"
import { type Command, runMain } from "../../chaos/processes.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"
import { freshDatabase, startPostgres } from "../../kit/postgres.ts"

const suffix = randomBytes(4).toString("hex")
const owner = `rungate_owner_${suffix}`
const service = `rungate_service_${suffix}`
const password = "pass-of-a-role"

let superuser: Client
let database: string
const urlFor = (role: string) => {
  const url = new URL(database)
  url.username = role
  url.password = password
  return url.toString()
}
const connect = async (connectionString: string) => {
  const client = new Client({ connectionString })
  client.on("error", () => {})
  await client.connect()
  return client
}

beforeAll(async () => {
  superuser = await connect(await startPostgres())
  for (const role of [owner, service]) await superuser.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
  database = await freshDatabase()
  await superuser.query(`ALTER DATABASE ${new URL(database).pathname.slice(1)} OWNER TO ${owner}`)
})
afterAll(async () => {
  await superuser.query(`DROP DATABASE ${new URL(database).pathname.slice(1)} WITH (FORCE)`)
  for (const role of [owner, service]) await superuser.query(`DROP ROLE ${role}`)
  await superuser.end()
})

const compiled: Command = [await compiledCommand()]
/** What the compiled file can't do. */
const needsSources = new Set(["serve", "catalog"])

const rungate = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  const command = needsSources.has(args[0] ?? "") ? undefined : compiled
  const { ended, output, errors } = runMain(args, { PORT: "0", DATABASE_URL: urlFor(service), ...env }, command)
  return { code: (await ended).code, out: output(), err: errors() }
}
const migrate = (...args: ReadonlyArray<string>) =>
  rungate(["migrate", ...args], { RUNGATE_MIGRATION_DATABASE_URL: urlFor(owner) })

describe("a role that may not migrate", () => {
  const told =
    /^rungate: The database's schema has version \d+, this release needs \d+, and the role "rungate_service_\w+" may not change it\. Run `rungate migrate` with RUNGATE_MIGRATION_DATABASE_URL set to the owner's URL, then start again; see docs\/database-roles\.md\.\n$/

  test("does not start on an empty database, and says what to run", async () => {
    expect(await rungate(["serve"])).toEqual({ code: 1, out: "", err: expect.stringMatching(told) })
    expect(await rungate(["migrate"])).toEqual({ code: 1, out: "", err: expect.stringMatching(told) })
  })

  test("rungate migrate makes the schema as the owner, again and again, and grants the service's role", async () => {
    const first = await migrate("--service-role", service)
    expect([first.code, first.err]).toEqual([0, ""])
    expect(first.out).toMatch(
      /^schema: version (\d+) \(this release has \1\)\nqueues: up to date\ngranted: "rungate_service_/
    )
    expect(await migrate("--service-role", service)).toEqual(first)
    const nobody = await migrate("--service-role", "nobody_at_all")
    expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining('There is no role "nobody_at_all"')])
    const itself = await migrate("--service-role", owner)
    expect([itself.code, itself.err]).toEqual([1, expect.stringContaining("Create a separate role for the service")])
  })

  test("does not start on a schema that is behind", async () => {
    const client = await connect(urlFor(owner))
    const newest = "(SELECT max(migration_id) FROM effect_sql_migrations)"
    const { rows } = await client.query(`DELETE FROM effect_sql_migrations WHERE migration_id = ${newest} RETURNING *`)
    expect(await rungate(["serve"])).toEqual({ code: 1, out: "", err: expect.stringMatching(told) })
    const { migration_id, name } = rows[0]
    await client.query("INSERT INTO effect_sql_migrations (migration_id, name) VALUES ($1, $2)", [migration_id, name])
    await client.query(
      "DELETE FROM rungate_queues.migration WHERE version = (SELECT max(version) FROM rungate_queues.migration)"
    )
    const queues = await rungate(["serve"])
    expect([queues.code, queues.err]).toEqual([1, expect.stringContaining("schema rungate_queues has version")])
    await client.query(
      "INSERT INTO rungate_queues.migration (version, name, min_client_version) SELECT max(version) + 1, 'again', 6 FROM rungate_queues.migration"
    )
    await client.end()
  })
})

describe("the service as that role", () => {
  test("runs, tops up, remembers, erases, audits and works its queues", async () => {
    const app = await startApp({ settings: { DATABASE_URL: urlFor(service), RUNGATE_WARRANTY_SHARE: "1" } })
    const org = await app.tenant("5.00")
    const paid: Reply = await org.post("/v1/wallet/topups/checkout", { amount: "20.00" })
    expect(paid.body.status).toBe("simulated")
    const runs = await Promise.all(["ada", "bob", "cleo"].map((name) => org.run(verify(name))))
    expect(runs.map(({ body }) => body.status)).toEqual(["succeeded", "succeeded", "succeeded"])
    const keyed = ["key-1", "key-2", "key-3", "key-3"].map((key) => () => org.run(verify(), { "idempotency-key": key }))
    for (const run of keyed) expect((await run()).body.status).toBe("succeeded")
    const missed = await org.run(verify("error", "sandbox.test"))
    expect(missed.body.status).toBe("failed")
    const client = await connect(urlFor(service))
    const waiting = async () => (await client.query("SELECT count(*)::int AS n FROM history_queue")).rows[0].n
    await until("all runs are indexed", waiting, (n) => n === 0)
    const known = await org.get("/v1/history?q=ada@example.com")
    expect(known.body.count).toBe(1)
    const bounced = await org.run(verify("bounce", "sandbox.test"))
    const message = { from: "me@example.com", to: "bounce@sandbox.test", subject: "Hello", text: "Hi" }
    const sent = await org.run({ capability: "email.send", input: message })
    const uncounted = async () => (await client.query("SELECT count(*)::int AS n FROM usage_queue")).rows[0].n
    await until("the revenue is counted", uncounted, (n) => n === 0)
    await client.end()
    const evidence = { reason: "bounced", evidence: sent.body.run_id }
    const { body: refunded } = await org.post(`/v1/runs/${bounced.body.run_id}/dispute`, evidence)
    expect([refunded.state, refunded.note]).toEqual(["refunded", expect.stringContaining("permanent bounce")])
    await until(
      "the refund is booked",
      () => org.ledger(),
      (entries) => entries.some(({ type }) => type === "refund")
    )
    const revoked = await app.call(org.key, "DELETE", `/v1/api-keys/${org.key_id}`)
    expect(revoked.status).toBeLessThan(500)
    await app.books()
    await app.stop()
  })

  test("adds lanes, moves wallets to them and works their queues", async () => {
    const app = await startApp({ settings: { DATABASE_URL: urlFor(service) } })
    const tenants = await Promise.all(Array.from({ length: 8 }, () => app.tenant("1.00")))
    const grown = await startApp({ settings: { DATABASE_URL: urlFor(service), RUNGATE_LANES: "3" } })
    const client = await connect(urlFor(service))
    const spread = async () => (await client.query("SELECT spread FROM lane_count")).rows[0].spread
    await until("all wallets moved", spread, (lanes) => lanes === 3)
    for (const org of tenants) expect((await org.over(grown).run(verify())).status).toBe(200)
    const { rows } = await client.query("SELECT org_id, lane FROM wallets")
    for (const { org_id, lane } of rows) expect([org_id, lane]).toEqual([org_id, walletLane(org_id, 3)])
    await client.end()
    await grown.books()
    await grown.stop()
    await app.stop()
  })

  test("makes the partitions of the next months, and opens none of them", async () => {
    const admin = await connect(urlFor(owner))
    await admin.query("DROP TABLE runs_future")
    const month = (n: number) => `run_id_at(date_trunc('month', now()) + interval '${n} months')`
    const { rows: newest } = await admin.query(
      `SELECT to_char(date_trunc('month', now()) + interval '1 month', 'YYYY_MM') AS name`
    )
    const last = `runs_${newest[0].name}`
    await admin.query(`DROP TABLE ${last}`)
    await admin.query(`SELECT make_partition('runs_recent', 'runs_future', ${month(1)}, NULL)`)
    const client = await connect(urlFor(service))
    await client.query("SELECT make_months('runs')")
    expect(await client.query(`SELECT to_regclass('${last}') IS NOT NULL AS made`)).toMatchObject({
      rows: [{ made: true }]
    })
    for (const table of [last, "runs_future"])
      await expect(client.query(`SELECT FROM ${table}`)).rejects.toThrow("permission denied")
    for (const refused of [
      "SELECT drop_months(now())",
      "UPDATE ledger_heads SET seq = seq + 1",
      "INSERT INTO dropped_months VALUES ('a', 'b', 0, 0, 0, 0)"
    ])
      await expect(client.query(refused)).rejects.toThrow("permission denied")
    await client.end()
    await admin.end()
  })

  test("lets operators work: credit, catalog, index, audit", async () => {
    const orgs = await rungate(["admin", "orgs", "--json"])
    const { org_id } = JSON.parse(orgs.out).items[0]
    const commands = [
      ["admin", "show", org_id],
      ["admin", "reindex-history", "--restart"],
      ["catalog", "reset", "hunter"],
      ["audit"]
    ]
    for (const args of commands) {
      const { code, err } = await rungate(args)
      expect([args.join(" "), code, err]).toEqual([args.join(" "), 0, expect.any(String)])
    }
  })

  test("can't change the ledger, its triggers, the mode, or the schema", async () => {
    const client = await connect(urlFor(service))
    const refused = [
      "ALTER TABLE ledger DISABLE TRIGGER ledger_is_immutable",
      "ALTER TABLE ledger DISABLE TRIGGER ALL",
      "ALTER TABLE payments DISABLE TRIGGER payment_is_real",
      "DROP TRIGGER ledger_chains ON ledger",
      "CREATE OR REPLACE FUNCTION ledger_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
      "SET session_replication_role = replica",
      "UPDATE ledger SET amount = 1",
      "DELETE FROM ledger",
      "TRUNCATE ledger",
      "DROP TABLE ledger",
      "SELECT FROM ledger_first",
      "DELETE FROM ledger_future",
      "UPDATE ledger_first SET amount = 1",
      "UPDATE runs_first SET charged = 0",
      "DELETE FROM runs_recent",
      "SELECT make_partition('ledger', 'mine', 'run_0', 'run_1')",
      "ALTER TABLE runs DETACH PARTITION runs_recent",
      "DELETE FROM wallets",
      "DELETE FROM runs",
      "UPDATE losses SET cost = 0",
      "DELETE FROM losses",
      "UPDATE warranty_refunds SET amount = 1",
      "DELETE FROM warranty_fund",
      "UPDATE service_mode SET mode = 'sandbox'",
      "DELETE FROM lane_count",
      "UPDATE audit_log SET actor = 'system'",
      "DELETE FROM audit_log",
      "TRUNCATE audit_log",
      "ALTER TABLE api_keys DISABLE TRIGGER audited",
      "DELETE FROM effect_sql_migrations",
      "INSERT INTO effect_sql_migrations (migration_id, name) VALUES (99, 'mine')",
      "CREATE TABLE mine (id int)",
      "DROP FUNCTION money_is_real CASCADE",
      `SET ROLE ${owner}`
    ]
    for (const text of refused) {
      const said = await client.query(text).then(
        () => "done",
        (error: Error) => error.message
      )
      expect([text, said]).toEqual([text, expect.stringMatching(/permission denied|must be owner/)])
    }
    // Client addresses are forgotten by a function of the owner.
    await client.query(
      "INSERT INTO audit_log (actor, address, action, object, created_at) VALUES ('person', 'x', 'old', 'x', now() - interval '1 year')"
    )
    await client.query("SELECT audit_log_forget_addresses()")
    expect((await client.query("SELECT address FROM audit_log WHERE action = 'old'")).rows).toEqual([{ address: null }])
    await client.end()
  })
})
