/** T30: a production service does not start on a database that may lose payments, nor behind a pooler that loses session state. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Client } from "pg"
import { settingsProblems } from "../../../src/layers/postgres/DatabaseChecks.ts"
import { backends, startApp, until } from "../../kit/app.ts"
import { runMain } from "../../chaos/processes.ts"
import { breakablePostgres, type Server } from "../../chaos/servers.ts"
import { startPooler } from "../../faults/pooler.ts"
import { preparedDatabase } from "../../kit/postgres.ts"

let postgres: Server
let admin: Client
beforeAll(async () => {
  postgres = await breakablePostgres({})
  admin = new Client({ connectionString: postgres.url })
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await postgres.end("SIGQUIT")
})

const strict = { RUNGATE_MODE: "production", RUNGATE_DATABASE_CHECKS: "" }
const startOn = (DATABASE_URL: string, settings: Readonly<Record<string, string>> = strict) =>
  startApp({ settings: { ...settings, DATABASE_URL } })
const refusal = (DATABASE_URL: string, settings = strict) =>
  startOn(DATABASE_URL, settings).then(
    async (app) => {
      await app.stop()
      return "started"
    },
    (error: Error) => error.message
  )

/** Sets the whole server's, and waits until it has read them. */
const serverSets = async (name: string, value: "on" | "off") => {
  await admin.query(`ALTER SYSTEM SET ${name} = ${value}`)
  await admin.query("SELECT pg_reload_conf()")
  const read = async () => (await admin.query(`SHOW ${name}`)).rows[0][name]
  await until(`${name} is ${value}`, read, (now) => now === value)
}

describe("T30 pg.durability_guc", () => {
  test.each(["fsync", "full_page_writes"])(
    "%s=off: production refuses with the SQL that repairs it, a running service turns unready, the sandbox warns",
    async (name) => {
      const running = await startOn(postgres.url)
      const ready = () => running.call(null, "GET", "/readyz")
      expect((await ready()).status).toBe(200)
      await serverSets(name, "off")
      // Whoever asks within a quarter of a second gets the same answer.
      await until("it is unready", ready, ({ status }) => status === 503)
      const told = await refusal(postgres.url)
      expect(told).toMatch(/^The database at 127\.0\.0\.1:\d+\/rungate is not safe for payments\. /)
      expect(told).toContain(`Run: ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf();`)
      expect(told).not.toContain(new URL(postgres.url).password)
      const anyway = await startOn(postgres.url, { ...strict, RUNGATE_DATABASE_CHECKS: "warn" })
      expect(anyway.logs.join("\n")).toMatch(new RegExp(`^Warn.*${name} is off`, "m"))
      await anyway.stop()
      await serverSets(name, "on")
      await until("it is ready again", ready, ({ status }) => status === 200)
      await running.stop()
    },
    60_000
  )

  test("a process says it in one sentence and ends with exit code 1", async () => {
    await serverSets("fsync", "off")
    const { ended, errors } = runMain(["serve"], {
      PORT: "0",
      DATABASE_URL: postgres.url,
      RUNGATE_MODE: "production",
      RUNGATE_DATABASE_CHECKS: "refuse"
    })
    expect([(await ended).code, errors()]).toEqual([
      1,
      expect.stringMatching(/^rungate: The database at .+ is not safe for payments\. fsync is off: .+\n$/)
    ])
    await serverSets("fsync", "on")
  })

  test("synchronous_commit=off of the server or the role does not reach the service's commits", async () => {
    const app = await startOn(postgres.url)
    await app.stop()
    for (const [set, unset] of [
      ["ALTER SYSTEM SET synchronous_commit = off", "ALTER SYSTEM RESET synchronous_commit"],
      ["ALTER ROLE CURRENT_USER SET synchronous_commit = off", "ALTER ROLE CURRENT_USER RESET synchronous_commit"],
      ["ALTER DATABASE rungate SET synchronous_commit = off", "ALTER DATABASE rungate RESET synchronous_commit"]
    ] as const) {
      await admin.query(set)
      await admin.query("SELECT pg_reload_conf()")
      const plain = new Client({ connectionString: postgres.url })
      await plain.connect()
      expect((await plain.query("SHOW synchronous_commit")).rows).toEqual([{ synchronous_commit: "off" }])
      await plain.end()
      // The service looks at its own session: it would not start if that were off.
      expect(await refusal(postgres.url)).toBe("started")
      await admin.query(unset)
      await admin.query("SELECT pg_reload_conf()")
    }
  })

  test("a role that owns the ledger is warned about", async () => {
    const app = await startOn(postgres.url)
    expect(app.logs.join("\n")).toContain("could disable the ledger's triggers. docs/database-roles.md")
    await app.stop()
  })

  test("each setting is one problem of its own", () => {
    const good = {
      fsync: "on",
      full_page_writes: "on",
      synchronous_commit: "on",
      statement_timeout_ms: 15_000,
      role: "r"
    }
    expect(settingsProblems(good)).toEqual([])
    for (const mode of ["local", "remote_write", "remote_apply"])
      expect(settingsProblems({ ...good, synchronous_commit: mode })).toEqual([])
    for (const bad of [
      { fsync: "off" },
      { full_page_writes: "off" },
      { synchronous_commit: "off" },
      { statement_timeout_ms: 0 }
    ])
      expect(settingsProblems({ ...good, ...bad })).toHaveLength(1)
  })
})

describe("a pooler in transaction mode", () => {
  test("that drops startup parameters: production refuses", async () => {
    const pooler = await startPooler(postgres.url, 4)
    const told = await refusal(pooler.url)
    expect(told).toContain("statement_timeout is 0 ms although the service asks for 15000 ms, so a pooler dropped")
    expect(told).toContain("DATABASE_URL leads to a pooler in transaction mode")
    await pooler.stop()
  })

  // BullMQ's own connections need startup parameters, so its queues are on Redis here.
  test.if(backends.includes("redis"))(
    "that drops startup parameters: the sandbox warns",
    async () => {
      const pooler = await startPooler(await preparedDatabase(), 8)
      const app = await startApp({ backend: "redis", settings: { DATABASE_URL: pooler.url } })
      expect(app.logs.join("\n")).toMatch(/^Warn.*statement_timeout is 0 ms/m)
      await app.stop()
      await pooler.stop()
    },
    60_000
  )

  test.each([1, 2, 4])(
    "that keeps them, with %i server connections: it is noticed by the session state that gets lost",
    async (size) => {
      const pooler = await startPooler(postgres.url, size, "-c statement_timeout=15000 -c synchronous_commit=on")
      const told = await refusal(pooler.url)
      expect(told).toContain("not safe for payments. DATABASE_URL leads to a pooler in transaction mode: session state")
      await pooler.stop()
    },
    60_000
  )
})
