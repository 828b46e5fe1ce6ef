/**
 * One organization slows nobody else down: neither with thousands of runs, nor with free ones from an empty wallet, nor with runs that
 * wait for a provider that hangs.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { Leases } from "../../../src/layers/runs/Leases.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { Settings } from "../../../src/layers/platform/Settings.ts"
import { Storage } from "../../../src/layers/Storage.ts"
import {
  type App,
  backends,
  figures,
  percentile,
  startApp,
  type Tenant,
  timed,
  until,
  verify,
  withApp
} from "../../kit/app.ts"
import { heldProvider, heldWord, rehearseHeld } from "../../kit/held-provider.ts"
import { dueToday, howMany } from "../../kit/input-samples.ts"
import { preparedDatabase } from "../../kit/postgres.ts"
import { answer } from "../../layers/providers/stage.ts"
import { hasten, standIn } from "../../layers/providers/standin.ts"

const slow = (seconds: number) => ({ ...verify(`slow_${seconds}`, "sandbox.test"), async: true })
/** Government data: nothing is held, so an empty wallet is enough. */
const freeAndSlow = { capability: "gov.entity", input: { name: `sandbox:${heldWord}` }, async: true }
const paidAndSlow = { ...rehearseHeld(), async: true }
const open = async (app: App, org: Tenant, where = "") =>
  Number((await app.sql(`SELECT count(*) AS n FROM open_runs WHERE org_id = $1 ${where}`, [org.org_id]))[0]?.["n"])
const running = (app: App, org: Tenant) => open(app, org, "AND state = 'running'")

describe.each(backends)("a flood, queues on %s", (backend) => {
  // Each free run that is open may store 8 MiB. The usual limit has room for 256 of them.
  const settings = { RUNGATE_DRAIN_SECONDS: "0", RUNGATE_FREE_DAILY_MB: "8192" }
  const app = withApp({ backend, held: heldProvider(), settings })

  test("of free and of slow runs: another organization's paid runs end while all of it is open", async () => {
    const [penniless, flooding, victim] = [await app.tenant(), await app.tenant("500.00"), await app.tenant("5.00")]
    const [freeOnes, paidOnes] = [howMany(594, 250), howMany(900, 350)]
    const sent = await Promise.all([
      ...Array.from({ length: freeOnes }, () => penniless.run(freeAndSlow)),
      ...Array.from({ length: paidOnes }, () => flooding.run(paidAndSlow))
    ])
    expect(new Set(sent.map((one) => one.status))).toEqual(new Set([202]))
    await until(
      "the flood is open",
      () => open(app, flooding),
      (count) => count === paidOnes
    )
    await until(
      "its share runs",
      () => running(app, flooding),
      (count) => count === 125
    )
    const took: Array<number> = []
    for (let run = 0; run < 20; run++) {
      const { value, millis } = await timed(() => victim.run(verify()))
      expect(value.body.status).toBe("succeeded")
      took.push(millis)
    }
    figures("fair shares", {
      backend,
      free: freeOnes,
      paid: paidOnes,
      p50_ms: percentile(took, 0.5),
      max_ms: percentile(took, 1)
    })
    // None of the flood's runs has ended: nobody waited for them.
    expect(Math.max(...took)).toBeLessThan(30_000)
    expect(await running(app, penniless)).toBe(20)
    expect(await running(app, flooding)).toBe(125)
    // Nothing is refused that waits for its share, and nothing of it is lost.
    expect([await open(app, penniless), await open(app, flooding)]).toEqual([freeOnes, paidOnes])
    await app.books()
  })
})

test.if(dueToday(1))(
  "slots that become free go round the organizations",
  async () => {
    const app = await startApp({ settings: { RUNGATE_CONCURRENCY: "4", RUNGATE_ORG_CONCURRENCY: "1" } })
    const orgs = await Promise.all(Array.from({ length: 6 }, () => app.tenant("5.00")))
    // Four hold all slots for a second; everybody has twenty runs queued.
    await Promise.all(orgs.flatMap((org) => Array.from({ length: 20 }, () => org.run(slow(1)))))
    const late = await app.tenant("5.00")
    const { body } = await late.run(verify())
    expect(body.status).toBe("succeeded")
    // Not after 120 runs, but after about ten: four that were running when it came, and the next one of each organization.
    const [before] = await app.sql(
      `SELECT count(*) AS n FROM runs r JOIN runs l ON l.run_id = $1
     WHERE r.run_id <> l.run_id AND r.finished_at BETWEEN l.created_at AND l.finished_at`,
      [body.run_id]
    )
    expect(Number(before?.["n"])).toBeLessThanOrEqual(20)
    await until(
      "everybody's second run has ended",
      () => app.sql("SELECT count(*) AS n FROM runs WHERE finished_at IS NOT NULL GROUP BY org_id"),
      (rows) => rows.filter((row) => Number(row["n"]) >= 2).length === 6
    )
    const most = (
      await app.sql(
        "SELECT max(n) AS n FROM (SELECT count(*) AS n FROM runs WHERE finished_at IS NOT NULL GROUP BY org_id) c"
      )
    )[0]
    expect(Number(most?.["n"])).toBeLessThanOrEqual(4)
    await app.stop()
  },
  60_000
)

describe("open runs of one organization", () => {
  const most = 25
  const held = heldProvider()
  let apps: ReadonlyArray<App> = []
  beforeAll(async () => {
    const settings = { RUNGATE_ORG_QUEUE: String(most), RUNGATE_DRAIN_SECONDS: "0" }
    const first = await startApp({ held, settings })
    apps = [first, await startApp({ beside: first, held, settings }), await startApp({ beside: first, held, settings })]
  })
  afterAll(() => Promise.all(apps.map((app) => app.stop())))

  test("are bounded over three processes that admit at once; one too many is 429, and leaves nothing behind", async () => {
    const [first, ...others] = apps
    if (first === undefined) return
    const org = await first.tenant("50.00")
    const doors = [org, ...others.map((app) => org.over(app))]
    const answers = await Promise.all(
      doors.flatMap((door, at) =>
        Array.from({ length: 50 }, (_, run) => door.run(paidAndSlow, { "idempotency-key": `k-${at}-${run}` }))
      )
    )
    const by = Map.groupBy(answers, (one) => one.status)
    expect([...by.keys()].sort()).toEqual([202, 429])
    expect([by.get(202)?.length, by.get(429)?.length]).toEqual([most, 150 - most])
    const refused = by.get(429)?.[0]
    expect(refused?.body.error).toMatchObject({ code: "rate_limited" })
    expect(refused?.body.error.message).toContain("25 open runs")
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0)
    expect(await first.sql("SELECT count(*)::int AS n FROM runs WHERE org_id = $1", [org.org_id])).toEqual([
      { n: most }
    ])

    // A replay is no new run, and others have room of their own.
    const admitted = by.get(202)?.[0]?.body.run_id
    const at = answers.findIndex((one) => one.body.run_id === admitted)
    const again = await org.run(paidAndSlow, { "idempotency-key": `k-${Math.floor(at / 50)}-${at % 50}` })
    expect([again.status, again.body.run_id]).toEqual([202, admitted])
    expect((await (await first.tenant("5.00")).run(verify())).status).toBe(200)

    // When they have ended, the refused request is admitted under its own key.
    await held.holds(most)
    held.release()
    const wasRefused = answers.findIndex((one) => one.status === 429)
    const key = { "idempotency-key": `k-${Math.floor(wasRefused / 50)}-${wasRefused % 50}` }
    await until(
      "they have ended",
      () => open(first, org),
      (count) => count === 0,
      30
    )
    const late = await org.run(paidAndSlow, key)
    expect([late.status, late.headers.get("idempotent-replay")]).toEqual([202, null])
  })

  test("are counted exactly: runs that ended, were refused or cancelled are none", async () => {
    const [first] = apps
    if (first === undefined) return
    const org = await first.tenant("0.05")
    for (let run = 0; run < 3 * most; run++) {
      const { status } = await org.run(verify(`p${run}`))
      expect([200, 402]).toContain(status)
    }
    expect(await first.sql("SELECT open_runs FROM wallets WHERE org_id = $1", [org.org_id])).toEqual([
      { open_runs: "0" }
    ])
  })
})

describe("a provider that hangs", () => {
  const there = standIn()
  const unhasten = hasten()
  const app = withApp({ settings: { ...there.settings, RUNGATE_DRAIN_SECONDS: "0" } })
  afterAll(async () => {
    await there.stop()
    unhasten()
  })
  const gate = 10
  const asks = async (provider: string, state: string) =>
    Number(
      (await app.sql("SELECT count(*) AS n FROM open_runs WHERE provider = $1 AND state = $2", [provider, state]))[0]?.[
        "n"
      ]
    )

  test("is asked by as many runs as its throttle lets through; the others wait in the queue, where they hold no slot", async () => {
    const orgs = await Promise.all(Array.from({ length: 5 }, () => app.tenant("5.00")))
    const hang = Promise.withResolvers<void>()
    const found = answer(200, {
      results: [{ title: "A page", url: "https://example.com/", content: "words", score: 1 }]
    })
    there.play("tavily", ...Array.from({ length: 60 }, () => async () => (await hang.promise, found)))
    const search = { capability: "web.search", input: { query: "anything" }, routing: { provider: "tavily" } }
    const sent = await Promise.all(
      orgs.flatMap((org) => Array.from({ length: 12 }, () => org.run({ ...search, wait_seconds: 60, async: true })))
    )
    await until(
      "its share runs",
      () => asks("tavily", "running"),
      (count) => count === gate
    )
    await until(
      "the others wait",
      () => asks("tavily", "queued"),
      (count) => count === 60 - gate
    )
    hang.resolve()
    for (const [at, { body }] of sent.entries()) {
      const ended = await orgs[Math.floor(at / 12)]?.get(`/v1/runs/${body.run_id}?wait=60`)
      expect(ended?.body.status).toBe("succeeded")
    }
    expect(there.heard("tavily")).toHaveLength(60)
    await app.books()
  })

  test("as the second of a waterfall, too: runs give their slots back until it has room", async () => {
    there.forget()
    const orgs = await Promise.all(Array.from({ length: 10 }, () => app.tenant("5.00")))
    const hang = Promise.withResolvers<void>()
    const verified = answer(200, { result: "ok", email: "jane.doe@example.com" })
    there.play("leadmagic", ...Array.from({ length: 40 }, () => answer(500, "oops")))
    there.play("millionverifier", ...Array.from({ length: 40 }, () => async () => (await hang.promise, verified)))
    const sent = await Promise.all(
      orgs.flatMap((org) =>
        Array.from({ length: 4 }, () => org.run({ ...verify(), routing: { strategy: "cheapest" }, async: true }))
      )
    )
    await until(
      "leadmagic was asked by all",
      () => there.heard("leadmagic").length,
      (count) => count === 40
    )
    await until(
      "the others wait",
      () => asks("millionverifier", "queued"),
      (count) => count === 40 - gate
    )
    expect(there.heard("millionverifier")).toHaveLength(gate)
    hang.resolve()
    for (const [at, { body }] of sent.entries()) {
      const ended = await orgs[Math.floor(at / 4)]?.get(`/v1/runs/${body.run_id}?wait=60`)
      expect(ended?.body).toMatchObject({
        status: "succeeded",
        attempts: [
          { provider: "leadmagic", outcome: "provider_error" },
          { provider: "millionverifier", outcome: "succeeded" }
        ]
      })
    }
    await app.books()
  })
})

test("a claim is quick while an organization has 100,000 runs queued", async () => {
  const settings = Settings.layerFrom({ DATABASE_URL: await preparedDatabase() })
  const runtime = ManagedRuntime.make(Storage.pipe(Layer.provideMerge(settings)))
  await runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const leases = yield* Leases
      yield* sql`
        INSERT INTO open_runs (run_id, org_id, hold, state, provider, side_effect, since)
        SELECT 'run_' || n, 'org_a', n % 2, 'queued', 'p' || n % 5, false, now() - n * interval '1 millisecond'
        FROM generate_series(1, 100000) n`
      yield* sql`
        INSERT INTO open_runs (run_id, org_id, hold, state, provider, side_effect)
        SELECT 'run_b' || n, 'org_' || n, 1, 'queued', 'p1', false FROM generate_series(1, 150) n`
      const me = newId("wrk")
      // As in a service whose queue was long when PostgreSQL last looked at it.
      yield* sql`ANALYZE open_runs`
      const rounds = 20
      // In one transaction, because PostgreSQL counts the rows that a transaction has read until its end.
      const read = yield* Effect.gen(function* () {
        for (let round = 0; round < rounds; round++) {
          const groups = yield* leases.waiting("", 200)
          yield* leases.claim(
            me,
            groups.map((group) => ({ ...group, runs: 1 }))
          )
        }
        const [row] = yield* sql<{ read: number }>`
          SELECT (seq_tup_read + idx_tup_fetch)::float8 AS read FROM pg_stat_xact_user_tables WHERE relname = 'open_runs'`
        return row?.read ?? Number.NaN
      }).pipe(sql.withTransaction)
      const [row] = yield* sql<{ claimed: number }>`
        SELECT count(*)::int AS claimed FROM open_runs WHERE state = 'running' AND worker_id = ${me}`
      figures("claims with 100,000 queued runs", { claimed: row?.claimed ?? 0, rows_read: read })
      expect(row?.claimed).toBeGreaterThan(150)
      // A claim that no index helps would read the whole queue.
      expect(read / rounds).toBeGreaterThan(0)
      expect(read / rounds).toBeLessThan(10_000)
      expect((yield* leases.waiting("", 200)).every((group) => group.org_id === "org_a")).toBe(true)
      // A count that an older version left wrong is put right.
      const org_id = yield* (yield* Accounts).createOrganization("counted", null)
      yield* sql`UPDATE wallets SET open_runs = 7 WHERE org_id = ${org_id}`
      yield* leases.recount
      expect(yield* sql`SELECT open_runs FROM wallets WHERE org_id = ${org_id}`).toEqual([{ open_runs: 0n }])
    })
  )
  await runtime.dispose()
})
