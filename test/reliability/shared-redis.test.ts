/** Two services with databases of their own on one Redis: neither takes the other's wake-ups or hears its signals. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Redis } from "ioredis"
import { Layer } from "effect"
import { DueSeconds } from "../../src/layers/postgres/connection/KeepAwake.ts"
import { type App, backends, figures, percentile, startApp, type Tenant, timed, verify } from "../kit/app.ts"

const hasRedis = backends.includes("redis")

/** Nothing finds a lost wake-up: the run that waits for it stays under way. */
const limits = Layer.succeed(DueSeconds, 3_600)
const apps: Array<App> = []
beforeAll(async () => {
  if (!hasRedis) return
  const first = await startApp({ backend: "redis", limits })
  // The same Redis, and a database of its own.
  const second = await startApp({ limits, settings: { REDIS_URL: first.settings["REDIS_URL"] ?? "" } })
  apps.push(first, second)
})
afterAll(() => Promise.all(apps.map((app) => app.stop())))

const runsPerService = 40

test.skipIf(!hasRedis)(
  "runs of both end: no wake-up is lost to the other service",
  async () => {
    const tenants = await Promise.all(apps.map((app) => app.tenant("5.00")))
    const took: Array<number> = []
    const several = async (org: Tenant) => {
      for (let run = 0; run < runsPerService; run++) {
        const { value, millis } = await timed(() => org.run(verify()))
        expect(value.body.status).toBe("succeeded")
        took.push(millis)
      }
    }
    await Promise.all(tenants.map(several))
    figures("two services on one Redis", { p50_ms: percentile(took, 0.5), max_ms: percentile(took, 1) })
    for (const app of apps) await app.books()
  },
  60_000
)

test.skipIf(!hasRedis)("they share no key and no channel", async () => {
  const redis = new Redis(apps[0]?.settings["REDIS_URL"] ?? "")
  try {
    const prefixOf = (name: string) => name.split(":").slice(0, 2).join(":")
    const keys = (await redis.keys("*")).map(prefixOf)
    const channels = (await redis.call("PUBSUB", "CHANNELS", "rungate*")) as ReadonlyArray<string>
    const names = [...new Set(keys)].sort()
    expect(names).toHaveLength(2)
    for (const name of names) expect(name).toMatch(/^rungate:[0-9a-f-]{36}-\d+$/)
    expect(channels.map(prefixOf)).toEqual(expect.arrayContaining(names))
  } finally {
    redis.disconnect()
  }
})
