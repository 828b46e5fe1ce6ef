/**
 * T32 partition: the network between a process and PostgreSQL, Redis or a provider splits, both ways or one way only, and heals. A proxy in
 * between goes silent; nothing is closed, so neither side is told.
 *
 * A worker that is cut off loses its lease to another one. When it comes back it must not settle what others have settled.
 */
import { afterEach, describe, expect, test } from "bun:test"
import { sampled } from "../kit/input-samples.ts"
import { until } from "./processes.ts"
import { type Direction, type Proxy, proxyTo } from "./proxy.ts"
import { type Asked, backends, leaseSeconds, report, World } from "./world.ts"

const silenceMillis = 6_000

let world: World | undefined
const proxies: Array<Proxy> = []
afterEach(async () => {
  await world?.close()
  world = undefined
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()))
})

const between = async (url: string, port: number) => {
  const proxy = await proxyTo(url, port)
  proxies.push(proxy)
  return proxy
}

interface Split {
  readonly name: string
  readonly direction: Direction
  /** Of the process that is cut off. */
  readonly role: "all" | "worker"
  readonly part: "postgres" | "redis" | "provider"
}

const splits: ReadonlyArray<Split> = [
  { name: "api_pg", role: "all", part: "postgres", direction: "both" },
  { name: "api_pg, answers lost", role: "all", part: "postgres", direction: "down" },
  { name: "worker_pg, requests lost", role: "worker", part: "postgres", direction: "up" },
  { name: "worker_redis", role: "worker", part: "redis", direction: "both" },
  { name: "worker_redis, answers lost", role: "worker", part: "redis", direction: "down" },
  { name: "worker_provider", role: "worker", part: "provider", direction: "both" },
  { name: "worker_provider, answers lost", role: "worker", part: "provider", direction: "down" }
]

describe.each(backends)("T32 partition on %s", (backend) => {
  const possible = splits.filter(({ part }) => part !== "redis" || backend === "redis")
  test.each(sampled(possible, 4, backends.indexOf(backend)))(
    "$name",
    async (split) => {
      world = await World.open({ backend })
      const here = world
      const staying = await here.start("all")
      await here.openAccounts()
      const [name, url, port] =
        split.part === "postgres"
          ? (["DATABASE_URL", here.env["DATABASE_URL"], 5432] as const)
          : split.part === "redis"
            ? (["REDIS_URL", here.env["REDIS_URL"], 6379] as const)
            : (["RUNGATE_PROVIDER_LEADMAGIC_BASE_URL", here.meter.url, 80] as const)
      const proxy = await between(url ?? "", port)
      const through = split.part === "provider" ? proxy.url.replace(/\/$/, "") : proxy.url
      const cut = await here.start(split.role, { [name]: through })
      const front = split.role === "all" ? [staying, cut] : [staying]
      let over = false
      const asked: Array<Asked> = []
      let refused = 0
      let answered = 0
      const client = async (number: number) => {
        for (let turn = number; !over; turn++) {
          const service = front[turn % front.length] ?? staying
          const one = turn % 5 === 0 ? here.send("Hit") : here.find(turn % 2 === 0 ? "Wait300" : "Hit")
          asked.push(one)
          if ((await here.submit(service, one, 2, 8_000)) === null) {
            refused += 1
            await Bun.sleep(50)
          } else answered += 1
        }
      }
      const clients = Promise.all(Array.from({ length: 4 }, (_, number) => client(number)))
      await until("runs before the split", 20_000, () => answered > 12)
      proxy.silence(split.direction)
      const before = answered
      // The fault's own length: longer than a lease, so that others take over.
      await Bun.sleep(silenceMillis)
      const during = answered - before
      proxy.heal()
      const healed = performance.now()
      const back = answered
      await until("runs after the split", 30_000, () => answered > back + 12)
      over = true
      await clients
      for (const one of asked) {
        await until(`an answer for ${one.key}`, 30_000, async () => (await here.submit(staying, one)) ?? undefined)
      }
      await here.settled(leaseSeconds + 40)
      const recovery_s = Number(((performance.now() - healed) / 1000).toFixed(2))
      here.expectAlive([staying, cut])
      const violations = await here.violations()
      report({ test: "T32", backend, split: split.name, runs: asked.length, refused, during, violations, recovery_s })
      expect(violations).toEqual([])
      // Whoever was not cut off went on serving.
      expect(during).toBeGreaterThan(0)
    },
    180_000
  )
})
