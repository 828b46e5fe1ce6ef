/**
 * T19 queue.listen_lost and T20 queue.notify_dropped: without Redis a wake-up is a notification of PostgreSQL. When the session that listens
 * is ended, or a notification never arrives, work is still picked up soon.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, figures, percentile, startApp, type Tenant, timed, until, verify } from "../kit/app.ts"
import { type Proxy, proxyTo } from "./proxy.ts"

const rounds = 20
/** The sweeper finds the work within a second or two. The rest is for a busy machine. */
const pickupMillisMax = 20_000

let front: App
let working: App
let proxy: Proxy
let org: Tenant
beforeAll(async () => {
  // The front takes requests, the worker behind the proxy executes them: every run needs a wake-up from one to the other.
  front = await startApp({ role: "http" })
  proxy = await proxyTo(front.databaseUrl, 5432)
  working = await startApp({ role: "worker", beside: front, settings: { DATABASE_URL: proxy.url } })
  org = await front.tenant("50.00")
})
afterAll(async () => {
  await front.books()
  await working.stop()
  await front.stop()
  await proxy.stop()
})

/** How long a run takes from the request to the committed result. */
const run = async (name: string) => {
  const { value, millis } = await timed(() => org.run({ ...verify(name), wait_seconds: 30 }))
  expect([value.status, value.body.status]).toEqual([200, "succeeded"])
  return millis
}
const listeners = async () =>
  (
    await front.sql(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE '%LISTEN %' AND pid <> pg_backend_pid()"
    )
  ).map(({ pid }) => Number(pid))

describe("without Redis", () => {
  test("T19 queue.listen_lost: every listening session is ended, twenty times", async () => {
    await run("before")
    const millis: Array<number> = []
    let ended = 0
    for (let round = 0; round < rounds; round++) {
      const pids = await until("somebody listens", listeners, (found) => found.length > 0)
      for (const pid of pids) await front.sql("SELECT pg_terminate_backend($1)", [pid])
      ended += pids.length
      millis.push(await run(`listen${round}`))
    }
    const slowest = Math.round(Math.max(...millis))
    figures("T19 queue.listen_lost", {
      rounds,
      sessions_ended: ended,
      p50_ms: percentile(millis, 0.5),
      max_ms: slowest,
      violations: millis.filter((one) => one > pickupMillisMax).length
    })
    expect(ended).toBeGreaterThanOrEqual(rounds)
    expect(slowest).toBeLessThan(pickupMillisMax)
  })

  test("T20 queue.notify_dropped: the worker never hears a notification, and its sweeper finds the work", async () => {
    await run("calm")
    proxy.swallowNotifications(true)
    const before = proxy.swallowed()
    const millis: Array<number> = []
    for (let round = 0; round < 10; round++) millis.push(await run(`dropped${round}`))
    proxy.swallowNotifications(false)
    const slowest = Math.round(Math.max(...millis))
    const swallowed = proxy.swallowed() - before
    figures("T20 queue.notify_dropped", {
      runs: millis.length,
      swallowed,
      p50_ms: percentile(millis, 0.5),
      max_ms: slowest,
      violations: millis.filter((one) => one > pickupMillisMax).length
    })
    expect(swallowed).toBeGreaterThan(0)
    expect(slowest).toBeLessThan(pickupMillisMax)
  })
})
