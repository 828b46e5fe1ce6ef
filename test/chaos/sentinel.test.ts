/**
 * sentinel: the queues on a Redis that Redis Sentinel watches, whose master is killed under load and replaced by its replica.
 *
 * Redis loses what its replica had not received, and PostgreSQL has the work. So every run that some answer named ends, once.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { lanesDefault } from "../../src/schema/wallet/Lane.ts"
import { freshDatabase } from "../kit/postgres.ts"
import { load, retryAll } from "./load.ts"
import { runMain, until } from "./processes.ts"
import { type Sentinels, startSentinels } from "./sentinel.ts"
import { installedBackends, percentile, report, World } from "./world.ts"

let sentinels: Sentinels
let world: World | undefined
/** Longer than a busy machine keeps a process waiting, because here Redis fails and not the service. */
const leaseSeconds = 10
const hasRedis = installedBackends.includes("redis")
beforeAll(async () => {
  if (hasRedis) sentinels = await startSentinels()
})
afterEach(async () => {
  await world?.close()
  world = undefined
})
afterAll(async () => {
  if (hasRedis) await sentinels.stop()
})

/** What a command of an operator says when it can't use this address. It waits for nothing. */
const refusal = async (REDIS_URL: string): Promise<string> => {
  const env = { DATABASE_URL: await freshDatabase(), REDIS_URL, PORT: "0" }
  const { child, errors, output, ended } = runMain(["serve"], env)
  const said = await until("a reason", 60_000, () => /[^\n]*Redis at [^\n]+/.exec(`${output()}${errors()}`)?.[0])
  child.kill("SIGKILL")
  await ended
  return said
}

describe.if(hasRedis)("sentinel: queues on a Redis with Sentinels", () => {
  test("a Sentinel given as a single server, and a name that no Sentinel knows, are named at start", async () => {
    const place = new URL(sentinels.address).host
    expect(await refusal(sentinels.address)).toContain(
      `is a Redis Sentinel. Set REDIS_URL=redis+sentinel://${place}/<name>`
    )
    expect(await refusal(sentinels.url.replace(sentinels.name, "nobody"))).toMatch(
      /Redis at [\d.:,]+\/nobody .+No such master with that name/
    )
  })

  test("the master is killed under load", async () => {
    world = await World.open({
      backend: "redis",
      redisUrl: sentinels.url,
      settings: { RUNGATE_LEASE_SECONDS: `${leaseSeconds}` }
    })
    const here = world
    // A run needs a wake-up from one process to another, and a signal back.
    const front = await here.start("http")
    const services = [front, ...(await Promise.all([here.start("worker"), here.start("worker")]))]
    await here.openAccounts()
    let over = false
    const clients = load(here, [front], 3, () => over)
    const answered = () => clients.millis.length
    await until("runs before the fault", 20_000, () => answered() > 10)
    const former = await sentinels.master()
    const before = answered()
    const killed = performance.now()
    await former.kill()
    const master = await sentinels.replaced(former)
    const replaced = Date.now()
    const replaced_s = Number(((performance.now() - killed) / 1000).toFixed(2))
    const meanwhile = answered() - before
    // Wake-ups are taken on the new master, and not only found by the sweeper. All wallets may be of one lane.
    const prefix = await until("a queue on the new master", 20_000, async () => {
      const [key] = await master.client.keys("rungate:*:lane-*:events")
      return key?.slice(0, key.indexOf(":lane-"))
    })
    await until("a job on the new master", 20_000, async () => {
      const newest = await Promise.all(
        Array.from({ length: lanesDefault }, (_, lane) =>
          master.client.xrevrange(`${prefix}:lane-${lane}:events`, "+", "-", "COUNT", 1)
        )
      )
      return newest.some(([[id = "0", fields = []] = []]) => Number(id.split("-")[0]) > replaced && fields.length > 0)
    })
    await until("every process listens", 20_000, async () => {
      const [, count] = await master.client.pubsub("NUMSUB", `${prefix}:signals`)
      return Number(count) === services.length
    })
    const calm = answered()
    await until("calm runs", 20_000, () => answered() > calm + 10)
    over = true
    await clients.finished
    await retryAll(here, front, clients.runs)
    const recovery_s = Number((await here.settled(leaseSeconds + 30)).toFixed(2))
    here.expectAlive(services)
    const violations = await here.violations()
    report({
      test: "sentinel",
      runs: clients.runs.length,
      refused: clients.refused(),
      answered_without_master: meanwhile,
      replaced_s,
      violations,
      p50_before: percentile(clients.millis.slice(0, before), 0.5),
      p50_after: percentile(clients.millis.slice(calm), 0.5),
      p99: percentile(clients.millis, 0.99),
      recovery_s
    })
    expect(violations).toEqual([])
  })
})
