/**
 * node: the queues on a Redis Cluster of three masters, of which the one with the queues is killed under load and replaced.
 *
 * Redis loses what its replica had not received, and PostgreSQL has the work. So every run that some answer named ends, once.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { Cluster } from "ioredis"
import { redisGroupOf } from "../../src/layers/platform/settings/ServerUrls.ts"
import { lanesDefault } from "../../src/schema/wallet/Lane.ts"
import { startApp } from "../kit/app.ts"
import { freshDatabase } from "../kit/postgres.ts"
import { startRedis } from "../kit/redis.ts"
import { load, retryAll } from "./load.ts"
import { runMain, until } from "./processes.ts"
import { type RedisClusterServers, startRedisCluster } from "./rediscluster.ts"
import { installedBackends, leaseSeconds, percentile, report, World } from "./world.ts"

let cluster: RedisClusterServers
let world: World | undefined
const hasRedis = installedBackends.includes("redis")
beforeAll(async () => {
  if (hasRedis) cluster = await startRedisCluster()
}, 240_000)
afterEach(async () => {
  await world?.close()
  world = undefined
}, 240_000)
afterAll(async () => {
  if (hasRedis) await cluster.stop()
}, 240_000)

const withCluster = async <A>(url: string, use: (client: Cluster) => Promise<A>): Promise<A> => {
  const client = new Cluster([...(redisGroupOf(url)?.nodes ?? [])])
  client.on("error", () => {})
  // Before it is ready it takes every node of the address for a master, also one that is dead.
  await until("three masters", 20_000, () => client.status === "ready" && client.nodes("master").length >= 3)
  try {
    return await use(client)
  } finally {
    client.disconnect()
  }
}
const onMasters = (client: Cluster, ...command: readonly [string, ...ReadonlyArray<string>]) =>
  Promise.all(client.nodes("master").map((node) => node.call(...command)))
/** Every key of every master. */
const keysOf = async (client: Cluster) => (await onMasters(client, "KEYS", "*")).flat().map(String)

const refusal = async (env: Readonly<Record<string, string>>): Promise<string> => {
  const { ended, errors, child } = runMain(["serve"], { PORT: "0", ...env })
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000)
  const { code } = await ended
  clearTimeout(timer)
  expect(code).toBe(1)
  return errors()
}

describe.if(hasRedis)("node: queues on a Redis Cluster", () => {
  test("a node given as a single server, and a single server given as a cluster, are named at start", async () => {
    const DATABASE_URL = await freshDatabase()
    const { port } = cluster.nodes[0] ?? { port: 0 }
    expect(await refusal({ DATABASE_URL, REDIS_URL: `redis://127.0.0.1:${port}` })).toContain(
      `is a node of a Redis Cluster. Set REDIS_URL=redis+cluster://127.0.0.1:${port}`
    )
    const single = new URL((await startRedis()) ?? "").host
    expect(await refusal({ DATABASE_URL, REDIS_URL: `redis+cluster://${single}` })).toContain(
      `It is no cluster: set REDIS_URL=redis://${single}.`
    )
    for (const REDIS_URL of ["redis://a:1,b:2", "redis+cluster://a:1/3", "redis+cluster://"])
      expect(await refusal({ DATABASE_URL, REDIS_URL })).toContain(
        "REDIS_URL of several servers must be redis+cluster://host:port,host:port"
      )
  }, 240_000)

  test("two services share rate limits in the cluster, also after its nodes lost the scripts", async () => {
    const settings = { REDIS_URL: cluster.url, RUNGATE_RATE_LIMIT: "5" }
    const one = await startApp({ settings })
    const other = await startApp({ settings, beside: one })
    const org = await one.tenant()
    const ask = async () => {
      let answered = 0
      for (let n = 0; n < 60; n++)
        if ((await org.over(n % 2 === 0 ? one : other).get("/v1/wallet")).status === 200) answered += 1
      return answered
    }
    await withCluster(cluster.url, async (client) => {
      const buckets = async () => (await keysOf(client)).filter((key) => key.startsWith("rungate:limits:"))
      const granted = await ask()
      const keys = await until("buckets", 10_000, async () => {
        const found = await buckets()
        return found.length > 0 ? found : undefined
      })
      // The two keys of a bucket are on one node.
      expect(keys.every((key) => /\{.+\}/.test(key))).toBe(true)
      await onMasters(client, "SCRIPT", "FLUSH")
      for (const key of keys) await client.del(key)
      await until("buckets again", 10_000, async () => {
        await ask()
        return (await buckets()).length > 0
      })
      report({ test: "node", granted_of_60: granted, bucket_keys: keys.length })
    })
    await Promise.all([one.stop(), other.stop()])
  }, 240_000)

  test("the master with the queues is killed under load", async () => {
    // The services of other tests leave keys with prefixes of their own, and such keys may be on another master.
    await withCluster(cluster.url, (client) => onMasters(client, "FLUSHALL"))
    world = await World.open({ backend: "redis", redisUrl: cluster.url })
    const here = world
    // A run needs a wake-up from one process to another, and a signal back.
    const front = await here.start("http")
    const services = [front, ...(await Promise.all([here.start("worker"), here.start("worker")]))]
    await here.openAccounts()
    let over = false
    const clients = load(here, [front], 6, () => over)
    const answered = () => clients.millis.length
    await until("runs before the fault", 20_000, () => answered() > 40)
    const queueKeys = (await withCluster(cluster.url, keysOf)).filter((key) => !key.startsWith("rungate:limits:"))
    expect(queueKeys.length).toBeGreaterThan(3)
    const prefixes = new Set(queueKeys.map((key) => /^\{rungate:[0-9a-f-]+\}:/.exec(key)?.[0]))
    expect([...prefixes]).toEqual([expect.any(String)])
    const [aKey = ""] = queueKeys
    const master = await cluster.masterOf(aKey)
    const before = { answered: answered(), millis: clients.millis.length }
    const killed = performance.now()
    await master.kill()
    await cluster.replaced(master, aKey)
    const replaced = Date.now()
    const replaced_s = Number(((performance.now() - killed) / 1000).toFixed(2))
    const meanwhile = answered() - before.answered
    const back = answered()
    await until("runs after the fault", 20_000, () => answered() > back + 40)
    await withCluster(cluster.url, async (client) => {
      const prefix = aKey.slice(0, aKey.indexOf("}") + 1)
      // Wake-ups are taken on the new master, and not only found by the sweeper. All wallets may be of one lane.
      await until("a job on the new master", 20_000, async () => {
        const newest = await Promise.all(
          Array.from({ length: lanesDefault }, (_, lane) =>
            client.xrevrange(`${prefix}:lane-${lane}:events`, "+", "-", "COUNT", 1)
          )
        )
        return newest.some(([[id = "0", fields = []] = []]) => Number(id.split("-")[0]) > replaced && fields.length > 0)
      })
      await until("every process listens", 20_000, async () => {
        const counts = await Promise.all(
          client.nodes("all").map((node) => node.pubsub("NUMSUB", `${prefix.slice(1, -1)}:signals`))
        )
        return counts.reduce((sum, [, count]) => sum + Number(count), 0) === services.length
      })
    })
    const calm = answered()
    await until("calm runs", 20_000, () => answered() > calm + 20)
    over = true
    await clients.finished
    await retryAll(here, front, clients.runs)
    const recovery_s = Number((await here.settled(leaseSeconds + 30)).toFixed(2))
    here.expectAlive(services)
    const violations = await here.violations()
    report({
      test: "node",
      runs: clients.runs.length,
      refused: clients.refused(),
      answered_without_master: meanwhile,
      replaced_s,
      violations,
      p50_before: percentile(clients.millis.slice(0, before.millis), 0.5),
      p50_after: percentile(clients.millis.slice(calm), 0.5),
      p99: percentile(clients.millis, 0.99),
      recovery_s
    })
    expect(violations).toEqual([])
  }, 240_000)
})
