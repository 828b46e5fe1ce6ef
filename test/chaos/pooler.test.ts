/**
 * pool: the whole service behind PgBouncer, in transaction and in session mode, and PgBouncer killed under load.
 *
 * What works through it is said at start, and what does not is refused with what to set.
 */
import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { Client } from "pg"
import { startRedis } from "../kit/redis.ts"
import { load, retryAll } from "./load.ts"
import { hasPgbouncer, type Pgbouncer, startPgbouncer } from "./pgbouncer.ts"
import { runMain, until } from "./processes.ts"
import { breakablePostgres, type Server } from "./servers.ts"
import { backends, leaseSeconds, percentile, report, World } from "./world.ts"

const poolSize = 3
const transactionMode = { pool_mode: "transaction", default_pool_size: `${poolSize}` }
const sessionMode = { pool_mode: "session", default_pool_size: "60" }
/** What PgBouncer must be told to ignore when the service asks for its settings itself. */
const ignored = {
  ignore_startup_parameters:
    "options,statement_timeout,idle_in_transaction_session_timeout,synchronous_commit,plan_cache_mode,jit,enable_seqscan,enable_bitmapscan,enable_hashjoin,enable_mergejoin"
}
const strict = { RUNGATE_MODE: "production", RUNGATE_DATABASE_CHECKS: "refuse" }

let postgres: Server
beforeAll(async () => {
  // With fsync, because a production service refuses a server without.
  if (hasPgbouncer) postgres = await breakablePostgres({})
})

let world: World | undefined
const bouncers: Array<Pgbouncer> = []
afterEach(async () => {
  await world?.close()
  world = undefined
  for (const bouncer of bouncers.splice(0)) await bouncer.kill()
})

let databases = 0
const freshDatabase = async (): Promise<string> => {
  databases += 1
  await run(postgres.url, `CREATE DATABASE pooled${databases}`)
  const url = new URL(postgres.url)
  url.pathname = `/pooled${databases}`
  return url.toString()
}
const run = async (url: string, sql: string) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(sql)
  await client.end()
}
const pooler = async (settings: Readonly<Record<string, string>>) => {
  const bouncer = await startPgbouncer(postgres.url, settings)
  bouncers.push(bouncer)
  return bouncer
}

/** What a process says that does not start. */
const refusal = async (env: Readonly<Record<string, string>>): Promise<string> => {
  const { ended, errors, child } = runMain(["serve"], { PORT: "0", ...strict, ...env })
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000)
  const { code } = await ended
  clearTimeout(timer)
  expect(code).toBe(1)
  return errors()
}

/** Runs the SQL that a refusal names, as its reader would. */
const obey = async (told: string, databaseUrl: string, bouncer: Pgbouncer) => {
  const sql = told.match(/ALTER ROLE [^;]+;/g) ?? []
  expect(sql.length).toBeGreaterThan(0)
  await run(databaseUrl, sql.join(" "))
  await bouncer.console("RECONNECT")
}

describe.if(hasPgbouncer)("pool: a connection pooler", () => {
  describe.each(backends)("queues on %s", (backend) => {
    test("transaction mode with DATABASE_DIRECT_URL: it is killed under load", async () => {
      const direct = await freshDatabase()
      const bouncer = await pooler(transactionMode)
      const urls = { DATABASE_URL: bouncer.urlOf(direct), DATABASE_DIRECT_URL: direct }
      const told = await refusal(urls)
      expect(told).toContain("lack the service's statement_timeout, idle_in_transaction_session_timeout, ")
      await obey(told, direct, bouncer)

      world = await World.open({ backend, databaseUrl: urls.DATABASE_URL, settings: { ...strict, ...urls } })
      const here = world
      const services = [await here.start("all"), await here.start("all")]
      expect(services[0]?.output()).toContain("a pool in transaction mode. Runs, payments and questions go through it")
      await here.openAccounts()
      let over = false
      const clients = load(here, services, 8, () => over)
      const answered = () => clients.millis.length
      await until("runs before the fault", 20_000, () => answered() > 40)
      const pools = await bouncer.console("SHOW POOLS")
      await bouncer.kill()
      await bouncer.start()
      const back = answered()
      await until("runs after the fault", 20_000, () => answered() > back + 40)
      over = true
      await clients.finished
      const [first] = services
      if (first !== undefined) await retryAll(here, first, clients.runs)
      const recovery_s = Number((await here.settled(leaseSeconds + 30)).toFixed(2))
      here.expectAlive(services)
      const violations = await here.violations()
      const pool = pools.find(({ database }) => database === new URL(direct).pathname.slice(1))
      const count = (name: string) => Number(pool?.[name] ?? 0)
      const server_connections = count("sv_active") + count("sv_idle") + count("sv_used") + count("sv_tested")
      report({
        test: "pool",
        mode: "transaction",
        backend,
        runs: clients.runs.length,
        refused: clients.refused(),
        client_connections: count("cl_active") + count("cl_waiting"),
        server_connections,
        violations,
        p50: percentile(clients.millis, 0.5),
        p99: percentile(clients.millis, 0.99),
        recovery_s
      })
      expect(violations).toEqual([])
      expect(server_connections).toBeLessThanOrEqual(poolSize)
      expect(first?.output()).not.toContain('prepared statement "')
    })

    test.each([
      ["with DATABASE_DIRECT_URL", sessionMode, true],
      ["alone", { ...sessionMode, ...ignored }, false]
    ] as const)(
      "session mode %s",
      async (_name, settings, withDirect) => {
        const direct = await freshDatabase()
        const bouncer = await pooler(settings)
        const url = bouncer.urlOf(direct)
        const redis = backend === "redis" ? { REDIS_URL: (await startRedis()) ?? "" } : {}
        const urls = {
          DATABASE_URL: url,
          ...(withDirect ? { DATABASE_DIRECT_URL: direct } : {}),
          ...redis
        }
        const told = await refusal(urls)
        if (!withDirect) expect(told).toContain("statement_timeout is 0 ms although the service asks for 15000 ms")
        const all = withDirect ? told : await refusal({ ...urls, DATABASE_DIRECT_URL: direct })
        await obey(all, direct, bouncer)
        if (!withDirect && backend === "postgres") {
          // BullMQ names its schema in a startup parameter that PgBouncer does not pass on.
          expect(await refusal(urls)).toContain("BullMQ's queues on PostgreSQL need it. Set DATABASE_DIRECT_URL")
          return
        }
        world = await World.open({ backend, databaseUrl: url, settings: { ...strict, ...urls } })
        const here = world
        const services = [await here.start("all"), await here.start("all")]
        await here.openAccounts()
        let over = false
        const clients = load(here, services, 4, () => over)
        await until("enough runs", 20_000, () => clients.millis.length > 60)
        over = true
        await clients.finished
        await here.settled(leaseSeconds + 30)
        expect(clients.refused()).toBe(0)
        expect(await here.violations()).toEqual([])
      },
      60_000
    )
  })

  test("a pooler without DATABASE_DIRECT_URL is named, and what to set", async () => {
    const direct = await freshDatabase()
    const refusing = await pooler(transactionMode)
    const told = await refusal({ DATABASE_URL: refusing.urlOf(direct) })
    expect(told).toContain("unsupported startup parameter")
    expect(told).toContain(
      "leads to a connection pooler, so set DATABASE_DIRECT_URL to the address of the server itself"
    )
    const ignoring = await pooler({ ...transactionMode, ...ignored })
    expect(await refusal({ DATABASE_URL: ignoring.urlOf(direct) })).toContain(
      "DATABASE_URL leads to a pooler in transaction mode"
    )
  })

  test("a direct URL that is a pooler in transaction mode, or another database, is refused", async () => {
    const direct = await freshDatabase()
    const bouncer = await pooler({ ...transactionMode, ...ignored })
    const pooled = bouncer.urlOf(direct)
    const told = await refusal({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: pooled })
    expect(told).toContain("DATABASE_DIRECT_URL leads to a pooler in transaction mode, where LISTEN does not work")
    expect(await refusal({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: await freshDatabase() })).toContain(
      "DATABASE_DIRECT_URL leads to another database than DATABASE_URL"
    )
  })
})
