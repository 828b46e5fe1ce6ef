/**
 * T68 soak.vopr_lite: a random schedule of every fault at once, made from a seed: processes are killed, frozen and stopped, PostgreSQL and
 * Redis are restarted, Redis is emptied, sessions of the database are ended. The books are audited all the while, and everything at the end.
 *
 * Some 40 s by default. SOAK_MINUTES=60 is the long one; SEED=… repeats a schedule (the faults and their order; the load is as fast as the machine).
 */
import { afterEach, describe, expect, test } from "bun:test"
import { Redis } from "ioredis"
import { type Service, until } from "./processes.ts"
import { breakablePostgres, breakableRedis, type Server, stops } from "./servers.ts"
import { type Asked, backends, leaseSeconds, report, World } from "./world.ts"

const soakMillis = process.env["SOAK_MINUTES"] === undefined ? 40_000 : Number(process.env["SOAK_MINUTES"]) * 60_000
const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31))
const clientsCount = 4
const settleSecondsMax = 60

/** Mulberry32: small, and the same everywhere. */
const randomOf = (start: number) => {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

let world: World | undefined
const servers: Array<Server> = []
afterEach(async () => {
  await world?.close()
  world = undefined
  for (const server of servers.splice(0)) await server.end("SIGKILL")
}, 30_000)

describe.each(backends)("T68 soak.vopr_lite on %s", (backend) => {
  test(
    "random faults, seeded",
    async () => {
      const random = randomOf(seed + backends.indexOf(backend))
      const postgres = await breakablePostgres()
      servers.push(postgres)
      const redis = backend === "redis" ? await breakableRedis() : undefined
      if (redis !== undefined) servers.push(redis)
      world = await World.open({
        backend,
        databaseUrl: postgres.url,
        ...(redis === undefined ? {} : { redisUrl: redis.url })
      })
      const here = world
      const services: Array<Service> = [await here.start("all"), await here.start("all")]
      await here.openAccounts()

      let over = false
      const asked: Array<Asked> = []
      const counts = { refused: 0, cancelled: 0, audits: 0 }
      const client = async (number: number) => {
        for (let turn = number; !over; turn++) {
          const service = services[turn % services.length]
          if (service === undefined) continue
          const kind = turn % 7
          const one =
            kind === 0 ? here.send("Hit") : kind === 1 ? here.find("Miss") : here.find(kind < 4 ? "Wait300" : "Hit")
          asked.push(one)
          const told = await here.submit(service, one, kind === 2 ? 0 : 1, 8_000)
          if (told === null) {
            counts.refused += 1
            await Bun.sleep(100)
          } else if (kind === 2 && (await here.cancel(service, one, told.run_id))) counts.cancelled += 1
        }
      }
      const clients = Promise.all(Array.from({ length: clientsCount }, (_, number) => client(number)))

      const faults: Record<string, number> = {}
      const pick = () => Math.floor(random() * services.length)
      const replace = async (at: number) => {
        services[at] = await here.start("all")
      }
      const actions: ReadonlyArray<readonly [string, () => Promise<void>]> = [
        [
          "kill",
          async () => {
            const at = pick()
            await services[at]?.kill()
            await replace(at)
          }
        ],
        [
          "freeze",
          async () => {
            const service = services[pick()]
            service?.signal("SIGSTOP")
            await Bun.sleep(2_000 * leaseSeconds * (0.5 + random()))
            service?.signal("SIGCONT")
          }
        ],
        [
          "stop",
          async () => {
            const at = pick()
            services[at]?.signal("SIGTERM")
            await services[at]?.ended
            await replace(at)
          }
        ],
        [
          "restart_postgres",
          async () => {
            await postgres.end(random() < 0.5 ? stops.fast : stops.immediate)
            await postgres.start()
          }
        ],
        [
          "end_sessions",
          async () => {
            await here
              .query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rungate'")
              .catch(() => {})
          }
        ],
        ...(redis === undefined
          ? []
          : ([
              [
                "restart_redis",
                async () => {
                  await redis.end("SIGKILL")
                  await Bun.sleep(1_000 * random())
                  await redis.start()
                }
              ],
              [
                "flush_redis",
                async () => {
                  const client = new Redis(redis.url)
                  await client.flushall()
                  client.disconnect()
                }
              ]
            ] as const))
      ]
      /** The books at any moment; a database that is away is asked again later. */
      const violations: Array<string> = []
      const oracle = (async () => {
        while (!over) {
          await Bun.sleep(4_000)
          const found = await here.audit()
          if (found.some((one) => one.includes("VIOLATION"))) violations.push(...found)
          else if (found.length === 0) counts.audits += 1
        }
      })()

      for (const end = performance.now() + soakMillis; performance.now() < end; ) {
        await Bun.sleep(500 + 2_500 * random())
        const [name, act] = actions[Math.floor(random() * actions.length)] ?? expect.unreachable()
        faults[name] = (faults[name] ?? 0) + 1
        await act()
      }
      over = true
      await clients
      await oracle
      const acknowledged = here.acknowledged.size
      const last = services[0] ?? expect.unreachable()
      for (const one of asked)
        await until(`an answer for ${one.key}`, 40_000, async () => (await here.submit(last, one)) ?? undefined)
      await here.settled(settleSecondsMax)
      violations.push(...(await here.violations()))
      report({
        test: "T68",
        backend,
        seed,
        seconds: soakMillis / 1_000,
        runs: asked.length,
        acknowledged,
        ...counts,
        faults: Object.values(faults).reduce((sum, one) => sum + one, 0),
        ...faults,
        violations
      })
      expect({ seed, violations }).toEqual({ seed, violations: [] })
      expect(counts.audits).toBeGreaterThan(0)
    },
    soakMillis + 170_000
  )
})
