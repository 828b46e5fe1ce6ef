/** Waiting costs no connection and no money: long polls, swarms of them, and holds that always come back. */
import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from "bun:test"
import { Places } from "../../../src/actors/mailbox/Places.ts"
import { type App, oneBackend, figures, percentile, rehearse, startApp, timed, until, withApp } from "../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../kit/held-provider.ts"

/** One request on a socket of its own: fetch opens 256 at most. Hangs up when `hangUp` says so. */
const rawGet = (url: string, path: string, key: string, hangUp?: Promise<void>) =>
  new Promise<{ readonly text: string; readonly at: number }>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    let text = ""
    Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => {
          socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`)
          void hangUp?.then(() => socket.terminate())
        },
        data: (socket, bytes) => {
          text += bytes.toString()
          const [head, body] = text.split("\r\n\r\n")
          const length = Number(/content-length: (\d+)/i.exec(head ?? "")?.[1] ?? Number.NaN)
          if (Buffer.byteLength(body ?? "") >= length) socket.end()
        },
        close: () => resolve({ text, at: performance.now() }),
        error: (_socket, error) => reject(error)
      }
    }).catch(reject)
  })

const waitersOf = async (app: App) => Number(/^rungate_waiters (\d+)$/m.exec(await app.metrics())?.[1])

describe.each(oneBackend)("long polls, queues on %s", (backend) => {
  const connections = 10
  const slowRuns = 4
  /** Calls that LeadMagic's stand-in has taken and not answered. Hunter's answers at once. */
  const held: Array<() => void> = []
  const person = { first_name: "Jane", last_name: "Doe", domain: "example.com", email: "jane@example.com" }
  const slow = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 120,
    fetch: async (request) => {
      if (new URL(request.url).pathname === "/v2/email-finder")
        return Response.json({ data: { ...person, score: 90, verification: { status: "valid" }, sources: [] } })
      await new Promise<void>((release) => held.push(release))
      return Response.json({ ...person, status: "valid", credits_consumed: 1 })
    }
  })
  const accounts = ["LEADMAGIC", "HUNTER"].flatMap((slug) => [
    [`RUNGATE_PROVIDER_${slug}_API_KEY`, "key"],
    [`RUNGATE_PROVIDER_${slug}_BASE_URL`, `http://127.0.0.1:${slow.port}`]
  ])
  const find = (provider: string, last_name = "Doe") => ({
    capability: "email.find",
    input: { first_name: "Jane", last_name, company_domain: "example.com" },
    routing: { provider }
  })
  let app: App
  beforeAll(async () => {
    const settings = { RUNGATE_MODE: "production", RUNGATE_DATABASE_CONNECTIONS: `${connections}` }
    app = await startApp({ backend, settings: { ...settings, ...Object.fromEntries(accounts) } })
  })
  afterAll(async () => {
    await app.books()
    await app.stop()
    await slow.stop(true)
  })

  /** What the service's own connections are doing, and how many transactions have ended. BullMQ has connections of its own. */
  const database = async () => {
    const [row] = await app.sql(`
      SELECT count(*)::int AS pooled, count(*) FILTER (WHERE state <> 'idle' AND pid <> pg_backend_pid())::int AS busy,
             (SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database())::int AS transactions
      FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'rungate'`)
    return { pooled: Number(row?.["pooled"]), busy: Number(row?.["busy"]), transactions: Number(row?.["transactions"]) }
  }

  test("T29 pg.pool_exhaustion: 500 long polls hold none of 10 connections, and runs still settle", async () => {
    const org = await app.tenant("50.00")
    const started = await Promise.all(
      Array.from({ length: slowRuns }, () => org.run({ ...find("leadmagic"), async: true }))
    )
    await until(
      "the slow provider holds every run",
      () => held.length,
      (count) => count === slowRuns
    )
    const paths = started.map(({ body }) => `/v1/runs/${body.run_id}?wait=60`)
    const polls = Array.from({ length: 500 }, (_, index) => rawGet(app.url, paths[index % paths.length] ?? "", org.key))
    await until(
      "every run is waited for",
      () => waitersOf(app),
      (count) => count >= slowRuns
    )
    // Everybody has read the state of their run: now 500 requests wait, and the database has nothing to do for them.
    await until("no connection is in use", database, ({ busy }) => busy === 0)
    // PostgreSQL counts a transaction up to some seconds after its end, so the first seconds may still show the readings.
    const inOneSecond = async () => {
      const before = await database()
      await Bun.sleep(1_000)
      const after = await database()
      expect(after.pooled).toBeLessThanOrEqual(connections)
      return after.transactions - before.transactions
    }
    // One reading for each of them would be 500; heartbeats, sweeps and the queue are some dozens.
    const transactions = await until("the database is left alone", inOneSecond, (count) => count < 250)
    const latencies: Array<number> = []
    for (let round = 0; round < 5; round++) {
      const runs = await Promise.all(
        Array.from({ length: 10 }, (_, index) => timed(() => org.run(find("hunter", `p${round}x${index}`))))
      )
      for (const { value, millis } of runs) {
        expect(value.status).toBe(200)
        latencies.push(millis)
      }
    }
    const p99 = percentile(latencies, 0.99)
    // All runs above began and settled while the polls were open.
    expect((await org.list("?status=running")).body.items).toHaveLength(slowRuns)
    for (const release of held) release()
    const answers = await Promise.all(polls)
    expect(answers.filter((one) => !/^HTTP\/1.1 200 [^]*"status":"succeeded"/.test(one.text))).toEqual([])
    expect(
      await until(
        "nobody waits any more",
        () => waitersOf(app),
        (count) => count === 0
      )
    ).toBe(0)
    figures("T29 pg.pool_exhaustion", {
      backend,
      waiters: polls.length,
      connections: (await database()).pooled,
      transactions_per_s: transactions,
      settled: latencies.length,
      p99_settle_ms: p99
    })
  })
})

describe.each(oneBackend)("waiting, queues on %s", (backend) => {
  const held = heldProvider()
  const app = withApp({
    backend,
    held,
    settings: { RUNGATE_DATABASE_CONNECTIONS: "3", RUNGATE_ORG_CONCURRENCY: "500" }
  })
  afterEach(async () => {
    await app.books()
  })
  const waiting = () => waitersOf(app)

  test("T57 longpoll.swarm: 500 waiters of one run are answered when it ends; 100 that hung up leave nothing", async () => {
    const org = await app.tenant("50.00")
    const { body } = await org.run({ ...rehearseHeld(), async: true })
    await held.holds(1)
    // The metric counts runs that are waited for. This counts who waits.
    const enter = spyOn(Places.prototype, "enter")
    const entered = () => enter.mock.results.map(({ value }) => Object(value))
    const places = () => entered().find(({ id }) => id === body.run_id)?.count ?? 0
    const path = `/v1/runs/${body.run_id}?wait=120`
    const hangUp = Promise.withResolvers<void>()
    const polls = Array.from({ length: 500 }, () => rawGet(app.url, path, org.key))
    const gone = Array.from({ length: 100 }, () => rawGet(app.url, path, org.key, hangUp.promise))
    await until("the swarm waits", places, (count) => count === 600)
    expect(await waiting()).toBe(1)
    hangUp.resolve()
    expect((await Promise.all(gone)).filter((one) => one.text !== "")).toEqual([])
    const stayed = await until("those who hung up are forgotten", places, (count) => count === 500)
    const released = performance.now()
    held.release()
    const answers = await Promise.all(polls)
    expect(answers.filter((one) => !/^HTTP\/1.1 200 [^]*"status":"succeeded"/.test(one.text))).toEqual([])
    const ended = answers.map((one) => one.at)
    // Nobody was answered while the run was under way, and everybody far sooner than the two minutes that they would wait.
    expect(Math.min(...ended)).toBeGreaterThan(released)
    expect(Math.max(...ended) - released).toBeLessThan(30_000)
    expect([places(), await until("nobody waits any more", waiting, (count) => count === 0)]).toEqual([0, 0])
    enter.mockRestore()
    figures("T57 longpoll.swarm", {
      backend,
      waiters: stayed,
      hung_up: gone.length,
      spread_ms: Math.round(Math.max(...ended) - Math.min(...ended)),
      rss_mb: Math.round(process.memoryUsage.rss() / 1_048_576)
    })
  })
})

describe.each(oneBackend)("stopping, queues on %s", (backend) => {
  test("a process that stops answers its waiters with their runs as they stand, and another one finishes them", async () => {
    const held = heldProvider()
    const app = await startApp({ backend, held, settings: { RUNGATE_DRAIN_SECONDS: "0" } })
    const other = await startApp({ beside: app, held })
    try {
      const org = await app.tenant("5.00")
      const key = { "idempotency-key": "stopped" }
      // The service knows the key from now on, as it knows most keys.
      await org.run({ ...rehearse("error"), routing: { allow_fallback: false } })
      const waiting = org.run({ ...rehearseHeld(), wait_seconds: 60 }, key)
      await until(
        "the run is under way",
        () => org.list("?status=running"),
        (answer) => answer.body.items.length === 1
      )
      const { body: polledRun } = await org.run({ ...rehearseHeld(), async: true })
      const polling = org.get(`/v1/runs/${polledRun.run_id}?wait=60`)
      await until(
        "both are waited for",
        () => waitersOf(app),
        (count) => count === 2
      )
      const { millis } = await timed(() => app.stop())
      const { status, body, headers } = await waiting
      const polled = await polling
      expect([polled.status, polled.body.done]).toEqual([200, false])
      expect([status, body.done, headers.get("location")]).toEqual([202, false, `/v1/runs/${body.run_id}`])
      // Far less than the minute that the waiter asked for.
      expect(millis).toBeLessThan(30_000)
      await held.holds(2)
      held.release()
      // A lookup may be asked again: the run ends all the same, and is paid for once.
      const ended = await org.over(other).get(`/v1/runs/${body.run_id}?wait=30`)
      expect(ended.body.status).toBe("succeeded")
      expect((await org.over(other).get(`/v1/runs/${polledRun.run_id}?wait=30`)).body.status).toBe("succeeded")
      expect((await org.over(other).ledger()).filter((one) => one.type === "settle")).toHaveLength(2)
      const { violations } = await other.books()
      figures("stop.hand_over", { backend, stop_ms: Math.round(millis), violations: violations.length })
    } finally {
      await other.stop()
    }
  })
})

describe.each(oneBackend)("holds, queues on %s", (backend) => {
  const app = withApp({ backend, settings: { RUNGATE_CONCURRENCY: "20" } })

  test("T09 hold.lockout: whatever ends a run, its hold comes back", async () => {
    const org = await app.tenant("10.00")
    const words = ["slow_1", "timeout", "error", "no_match"]
    const started = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        org.run({ ...rehearse(words[index % 4] ?? ""), async: true, routing: { allow_fallback: false } })
      )
    )
    await until(
      "everything is held or over",
      () => org.wallet(),
      (wallet) => Number(wallet.reserved) > 0
    )
    const seen = await org.wallet()
    expect(Number(seen.available)).toBeCloseTo(Number(seen.balance) - Number(seen.reserved), 6)
    // Twenty run at once, the others wait in the queue and may be cancelled.
    const queued = (await org.list("?status=queued&limit=200")).body.items as ReadonlyArray<{ run_id: string }>
    const cancels = await Promise.all(queued.slice(0, 30).map((one) => org.post(`/v1/runs/${one.run_id}/cancel`)))
    const cancelled = cancels.filter((one) => one.status === 200).length
    await app.books()
    const { millis } = await timed(() =>
      until(
        "all holds are back",
        () => org.wallet(),
        (wallet) => wallet.reserved === "0.00",
        25
      )
    )
    const all = (await org.list("?limit=200")).body.items as ReadonlyArray<{
      status: string
      attempts: ReadonlyArray<unknown>
    }>
    expect(all).toHaveLength(started.length)
    const stopped = all.filter((one) => one.status === "cancelled")
    // E13: cancelled and executed exclude each other.
    expect(stopped).toHaveLength(cancelled)
    const both = stopped.filter((one) => one.attempts.length > 0)
    expect(both).toEqual([])
    const settled = (await org.ledger()).filter((one) => one.type === "settle").length
    expect(settled).toBe(all.filter((one) => one.status === "succeeded" || one.status === "no_match").length)
    await app.books()
    figures("T09 hold.lockout", {
      backend,
      runs: all.length,
      cancelled,
      executed: all.length - cancelled,
      both: both.length,
      seconds_to_release: Math.round(millis / 100) / 10
    })
  })
})
