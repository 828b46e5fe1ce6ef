/**
 * T24 redis.flushall, T25 redis.restart_no_aof and T26 pg.restart_storm: what the processes stand on breaks under load.
 *
 * A client is told nothing that is lost later: every run that some answer named is there and ends, no provider is asked
 * twice for one attempt, and the books hold.
 */
import { afterEach, describe, expect, test } from "bun:test"
import { Redis } from "ioredis"
import { load, retryAll } from "./load.ts"
import { until } from "./processes.ts"
import { breakablePostgres, breakableRedis, type Server, stops } from "./servers.ts"
import { backends, installedBackends, leaseSeconds, percentile, report, World } from "./world.ts"

const servers: Array<Server> = []
let world: World | undefined
afterEach(async () => {
  await world?.close()
  world = undefined
  for (const server of servers.splice(0)) await server.end("SIGKILL")
})

const redisServer = async (): Promise<Server> => {
  const redis = await breakableRedis()
  if (redis === undefined) throw new Error("redis-server is not installed")
  servers.push(redis)
  return redis
}

describe.if(installedBackends.includes("redis"))("Redis", () => {
  test("T24 redis.flushall: 500 queued and 20 active runs", async () => {
    const redis = await redisServer()
    world = await World.open({
      backend: "redis",
      redisUrl: redis.url,
      settings: { RUNGATE_CONCURRENCY: "10", RUNGATE_ORG_CONCURRENCY: "10" }
    })
    const first = await world.start("all")
    await world.start("worker")
    await world.openAccounts()
    const { find, submit, meter } = world
    const runs = Array.from({ length: 520 }, () => find.call(world, "Wait150"))
    for (let start = 0; start < runs.length; start += 40) {
      const told = await Promise.all(runs.slice(start, start + 40).map((asked) => submit.call(world, first, asked)))
      expect(told).not.toContain(null)
    }
    const client = new Redis(redis.url)
    await until("active and queued runs", 5_000, () => meter.open() >= 5)
    const [queued] = await world.query<{ count: number }>(
      "SELECT count(*) AS count FROM open_runs WHERE state = 'queued'"
    )
    const active = meter.open()
    await client.flushall()
    client.disconnect()
    const recovery_s = Number((await world.settled(60)).toFixed(2))
    const violations = await world.violations()
    const twice = runs.filter(({ key }) => meter.of(key).length !== 1).length
    report({
      test: "T24",
      backend: "redis",
      runs: 520,
      queued: queued?.count,
      active,
      faults: 1,
      duplicate_calls: twice,
      violations,
      recovery_s
    })
    expect(violations).toEqual([])
    expect(twice).toBe(0)
  })

  test("T25 redis.restart_no_aof: killed for some seconds, and back empty", async () => {
    const redis = await redisServer()
    world = await World.open({ backend: "redis", redisUrl: redis.url })
    const services = [await world.start("all"), await world.start("all")]
    await world.openAccounts()
    let over = false
    const clients = load(world, services, 4, () => over)
    const answered = () => clients.millis.length
    await until("runs before the fault", 10_000, () => answered() > 10)
    await redis.end("SIGKILL")
    const before = answered()
    // The fault's own length: long enough for the sweeper to carry runs without any wake-up.
    await Bun.sleep(5_000)
    const without = answered() - before
    await redis.start()
    const back = answered()
    await until("runs after the fault", 20_000, () => answered() > back + 10)
    over = true
    await clients.finished
    const recovery_s = Number((await world.settled(30)).toFixed(2))
    const violations = await world.violations()
    const { millis, runs, refused } = clients
    const p = { p50: percentile(millis, 0.5), p99: percentile(millis, 0.99) }
    report({
      test: "T25",
      backend: "redis",
      runs: runs.length,
      refused: refused(),
      answered_without_redis: without,
      faults: 1,
      violations,
      ...p,
      recovery_s
    })
    expect(violations).toEqual([])
    expect(without).toBeGreaterThan(0)
  })
})

describe.each(backends)("T26 pg.restart_storm on %s", (backend) => {
  test("PostgreSQL restarts every few seconds", async () => {
    const postgres = await breakablePostgres()
    servers.push(postgres)
    world = await World.open({ backend, databaseUrl: postgres.url })
    const here = world
    const services = [await world.start("all"), await world.start("all")]
    await world.openAccounts()
    let over = false
    const clients = load(world, services, 4, () => over)
    const kinds = ["immediate", "fast", "immediate", "immediate", "fast", "immediate", "immediate"] as const
    for (const kind of kinds) {
      const before = clients.millis.length
      await until("runs between the faults", 20_000, () => {
        here.expectAlive(services)
        return clients.millis.length > before + 8
      })
      // The fault's own rhythm; a random part, so that it hits every step sooner or later.
      await Bun.sleep(2_000 + Math.random() * 1_500)
      await postgres.end(stops[kind])
      await postgres.start()
    }
    const healed = performance.now()
    over = true
    await clients.finished
    const acknowledged = world.acknowledged.size
    await retryAll(world, services[0] ?? (await world.start("all")), clients.runs)
    await world.settled(leaseSeconds + 40)
    const recovery_s = Number(((performance.now() - healed) / 1000).toFixed(2))
    const violations = await world.violations()
    const { millis, runs, refused } = clients
    const p = { p50: percentile(millis, 0.5), p99: percentile(millis, 0.99) }
    report({
      test: "T26",
      backend,
      runs: runs.length,
      acknowledged,
      refused: refused(),
      faults: kinds.length,
      violations,
      ...p,
      recovery_s
    })
    expect(violations).toEqual([])
  })
})
