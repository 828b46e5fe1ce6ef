/** What must hold when several processes serve one organization at once: each test runs over two services on one database. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { Context, Effect, Layer, Redacted } from "effect"
import { Pool } from "pg"
import { CommandClient } from "../../../src/actors/mailbox/CommandClient.ts"
import { encodeSettle } from "../../../src/actors/mailbox/Commands.ts"
import { PollSeconds } from "../../../src/actors/mailbox/Waiters.ts"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import {
  type App,
  backends,
  figures,
  percentile,
  rehearse,
  type Reply,
  startApp,
  type Tenant,
  timed,
  until,
  verify
} from "../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../kit/held-provider.ts"
import { startMeter } from "../../chaos/meter.ts"

/** Holds and charges $1.008: three persons at $0.336, and nothing comes back. */
const dollarRun = {
  capability: "people.search",
  input: { titles: ["buyer"], limit: 3 },
  routing: { provider: "peopledatalabs" }
}
const dollarHold = 1.008
/** The 50 races of the plan run in test/chaos/overspend.test.ts; these few keep every `npm test` honest. */
const races = 5

const times = <A>(count: number, make: (index: number) => Promise<A>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))
const withStatus = (answers: ReadonlyArray<Reply>, status: number) => answers.filter((one) => one.status === status)

describe.each(backends)("two processes, queues on %s", (backend) => {
  const held = heldProvider()
  let apps: readonly [App, App]
  beforeAll(async () => {
    const first = await startApp({ backend, held })
    apps = [first, await startApp({ beside: first, held })]
  })
  afterAll(async () => {
    await apps[1].stop()
    await apps[0].stop()
  })
  afterEach(async () => {
    await apps[0].books()
  })
  /** The same tenant over one process and the other, in turn. */
  const over = (org: Tenant, index: number) => org.over(apps[index % 2 === 0 ? 0 : 1])

  test("T05 wallet.overspend.race: in each race, 200 parallel runs get exactly what the wallet pays for", async () => {
    const found = { grants: 0, refusals: 0, races_over: 0, overshoot_usd: 0 }
    const latencies: Array<number> = []
    const { millis } = await timed(async () => {
      for (let race = 0; race < races; race++) {
        const org = await apps[0].tenant("10.50")
        const { value: answers, millis } = await timed(() => times(200, (index) => over(org, index).run(dollarRun)))
        latencies.push(millis)
        const granted = withStatus(answers, 200)
        const refused = withStatus(answers, 402)
        expect([race, granted.length, refused.length]).toEqual([race, 10, 190])
        expect(refused.every((one) => one.body.error.code === "insufficient_balance")).toBe(true)
        expect(await org.wallet()).toEqual({ currency: "USD", balance: "0.42", reserved: "0.00", available: "0.42" })
        const overshoot = granted.length * dollarHold - 10.5
        found.grants += granted.length
        found.refusals += refused.length
        found.races_over += overshoot > 0 ? 1 : 0
        found.overshoot_usd = Math.max(found.overshoot_usd, overshoot)
      }
    })
    figures("T05 wallet.overspend.race", {
      backend,
      races,
      ...found,
      race_p50_ms: percentile(latencies, 0.5),
      requests_per_s: Math.round((races * 200_000) / millis),
      violations: found.races_over
    })
  })

  test("T06 wallet.first_use.race", async () => {
    const org = await apps[0].tenant("1.00")
    await org.post("/v1/spend-guard", { per_run_limit: "0.05", daily_limit: "0.50" })
    const answers = await times(64, (index) =>
      over(org, index).run(index % 4 === 0 ? { ...verify(), routing: { provider: "hunter" } } : rehearse("slow_1"))
    )
    const blocked = withStatus(answers, 402)
    expect(withStatus(answers, 200).length + blocked.length).toBe(64)
    expect(blocked.every((one) => one.body.error.code === "budget_exceeded")).toBe(true)
    const spent = (await org.get("/v1/spend-guard")).body.spent_today
    expect(Number(spent)).toBeLessThanOrEqual(0.5)
    const wallets = await apps[0].sql("SELECT 1 FROM wallets WHERE org_id = $1", [org.org_id])
    expect(wallets).toHaveLength(1)
    figures("T06 wallet.first_use.race", {
      backend,
      wallets: wallets.length,
      granted: 64 - blocked.length,
      spent
    })
  })

  test("T18 idem.mismatch_and_scope", async () => {
    const [org, other] = [await apps[0].tenant("5.00"), await apps[0].tenant("5.00")]
    const key = { "idempotency-key": "shared-by-all" }
    const first = await over(org, 0).run(verify(), key)
    const violations: Array<string> = []
    let cases = 0
    const check = (name: string, answer: Reply, status: number, replay: boolean) => {
      cases += 1
      const replayed = answer.headers.get("idempotent-replay") === "true"
      if (answer.status !== status || replayed !== replay)
        violations.push(`${name}: ${answer.status}, replay ${replayed}`)
    }
    check("the same", await over(org, 1).run(verify(), key), 200, true)
    check("another input", await over(org, 1).run(verify("john"), key), 422, false)
    check(
      "another capability",
      await over(org, 1).run({ capability: "web.search", input: { query: "x" } }, key),
      422,
      false
    )
    check("another cap", await over(org, 1).run({ ...verify(), routing: { max_cost: "1.00" } }, key), 422, false)
    check("another organization", await over(other, 1).run(verify(), key), 200, false)
    const mixed = await times(20, (index) =>
      over(org, index).run(verify(index % 2 === 0 ? "one" : "two"), { "idempotency-key": "mixed" })
    )
    const winners = withStatus(mixed, 200)
    if (winners.length !== 10 || withStatus(mixed, 422).length !== 10) violations.push("two bodies won one key")
    if (new Set(winners.map((one) => one.body.run_id)).size !== 1) violations.push("one key made several runs")
    const session = await org.session()
    check(
      "a session of the organization",
      await apps[1].call(session, "POST", "/v1/run", { body: verify(), headers: key }),
      200,
      true
    )
    expect(violations).toEqual([])
    expect((await other.list()).body.items[0].run_id).not.toBe(first.body.run_id)
    figures("T18 idem.mismatch_and_scope", { backend, cases: cases + mixed.length, violations: violations.length })
  })

  test("T03 ledger.concurrent.one_hold", async () => {
    const org = await apps[0].tenant("5.00")
    const { body } = await org.run({ ...rehearseHeld(), async: true })
    const [open] = await until(
      "the run is leased",
      () =>
        apps[0].sql("SELECT lease_token FROM open_runs WHERE run_id = $1 AND lease_token IS NOT NULL", [body.run_id]),
      (rows) => rows.length === 1
    )
    const latencies: Array<number> = []
    const verdicts = await times(100, async (index) => {
      // Every tenth is somebody whose lease was taken over; the others disagree about the charge, some beyond the hold.
      const report = encodeSettle({
        lease_token: index % 10 === 9 ? "stale" : String(open?.["lease_token"]),
        status: index % 2 === 0 ? "succeeded" : "failed",
        charge: dollars(index % 2 === 0 ? `${index}.00` : "0.00"),
        billed: true,
        provider: "leadmagic",
        attempts: [],
        hints: [],
        error: null
      })
      const asking = Context.get(apps[index % 2 === 0 ? 0 : 1].context, CommandClient)
      const { value, millis } = await timed(() =>
        Effect.runPromise(asking.ask({ org_id: org.org_id, run_id: body.run_id, tag: "Settle", payload: report }))
      )
      latencies.push(millis)
      return value
    })
    const winners = verdicts.filter((one) => one.verdict === "Settled")
    const losers = verdicts.filter((one) => one.verdict === "Stale")
    expect([winners.length, losers.length]).toEqual([1, 99])
    // The worker that executed the run comes last, with a good token, and finds it settled.
    await held.holds(1)
    held.release()
    await until(
      "the worker's own settlement was taken",
      () => apps[0].sql("SELECT count(*)::int AS n FROM mailbox"),
      ([row]) => row?.["n"] === 0
    )
    const entries = (await org.ledger()).filter((one) => one.reference === body.run_id)
    expect(entries.filter((one) => one.type === "reserve")).toHaveLength(1)
    expect(entries.filter((one) => one.type === "settle").length).toBeLessThanOrEqual(1)
    expect(
      Math.abs(entries.reduce((sum, one) => sum + Number(one.amount) * (one.type === "settle" ? -1 : 1), 0))
    ).toBeLessThan(1e-9)
    expect((await org.wallet()).reserved).toBe("0.00")
    figures("T03 ledger.concurrent.one_hold", {
      backend,
      attempts: 100,
      winners: winners.length,
      p99_ms: percentile(latencies, 0.99),
      violations: winners.length - 1
    })
  })

  test("T49 key.revoke_latency: nothing that starts after DELETE answered is admitted", async () => {
    const org = await apps[0].tenant("50.00")
    const accounts = Context.get(apps[0].context, Accounts)
    const made = await Effect.runPromise(accounts.createKey(org.org_id, "leaked", "test"))
    const token = Redacted.value(made.token)
    const calls: Array<{ began: number; ended: number; status: number; run: boolean }> = []
    let stop = false
    const client = async (index: number) => {
      const app = apps[index % 2 === 0 ? 0 : 1]
      while (!stop) {
        const began = performance.now()
        const run = index % 4 < 3
        const answer = run
          ? await app.call(token, "POST", "/v1/run", { body: { ...verify(), async: true } })
          : await app.call(token, "GET", "/v1/wallet")
        calls.push({ began, ended: performance.now(), status: answer.status, run })
      }
    }
    const clients = Array.from({ length: 16 }, (_, index) => client(index))
    await until(
      "the key is in use on both",
      () => calls.length,
      (count) => count > 100
    )
    const { status } = await apps[1].call(Redacted.value(made.token), "DELETE", `/v1/api-keys/${made.id}`)
    const revoked = performance.now()
    const [{ count: admitted } = { count: -1 }] = await apps[0].sql(
      "SELECT count(*)::int AS count FROM runs WHERE key_id = $1",
      [made.id]
    )
    await until(
      "everybody was refused several times",
      () => calls.filter((one) => one.began > revoked).length,
      (count) => count > 200
    )
    stop = true
    await Promise.all(clients)
    const late = calls.filter((one) => one.began > revoked)
    const stale = late.filter((one) => one.status !== 401)
    const lastGood = Math.max(...calls.filter((one) => one.status < 300).map((one) => one.ended))
    expect(status).toBe(200)
    expect(stale).toEqual([])
    // A call that was under way when DELETE answered may still come through; there are at most as many as clients.
    const after = await apps[0].sql("SELECT count(*)::int AS count FROM runs WHERE key_id = $1", [made.id])
    expect(Number(after[0]?.["count"]) - Number(admitted)).toBeLessThanOrEqual(clients.length)
    figures("T49 key.revoke_latency", {
      backend,
      calls: calls.length,
      refused: late.length,
      max_stale_ms: Math.max(0, Math.round(lastGood - revoked)),
      admitted_after: Number(after[0]?.["count"]) - Number(admitted),
      violations: stale.length
    })
    await until(
      "the runs end",
      () => org.wallet(),
      (wallet) => wallet.reserved === "0.00"
    )
  })

  test("T31 wallet.hot_key: 64 clients on one wallet, all succeed", async () => {
    const org = await apps[0].tenant("100.00")
    const latencies: Array<number> = []
    const { value: answers, millis } = await timed(() =>
      times(64, async (index) => {
        const mine: Array<Reply> = []
        for (let round = 0; round < 8; round++) {
          const { value, millis: took } = await timed(() => over(org, index + round).run(verify(`p${index}.${round}`)))
          latencies.push(took)
          mine.push(value)
        }
        return mine
      })
    )
    const statuses = answers.flat().map((one) => one.status)
    expect(statuses.filter((one) => one !== 200)).toEqual([])
    expect(await org.wallet()).toMatchObject({ balance: "98.464", reserved: "0.00" })
    figures("T31 wallet.hot_key", {
      backend,
      runs: statuses.length,
      runs_per_s: Math.round((statuses.length * 1_000) / millis),
      p50_ms: percentile(latencies, 0.5),
      p99_ms: percentile(latencies, 0.99)
    })
  })

  test("a run started over one process is waited for, read and cancelled over the other", async () => {
    // Without polls a waiter that does not hear of the end waits for a minute, which is longer than this test may take.
    const limits = Layer.succeed(PollSeconds, 3_600)
    const two = [
      await startApp({ beside: apps[0], held, limits }),
      await startApp({ beside: apps[0], held, limits })
    ] as const
    const org = await two[0].tenant("5.00")
    const { body } = await org.run({ ...rehearseHeld(), async: true })
    const waiting = times(4, (index) => org.over(two[index % 2 === 0 ? 0 : 1]).get(`/v1/runs/${body.run_id}?wait=60`))
    for (const one of two)
      await until("the run is waited for", one.metrics, (text) => text.includes("rungate_waiters 1\n"))
    await held.holds(1)
    held.release()
    for (const { body: waited } of await waiting) expect(waited.status).toBe("succeeded")
    const refused = await org.over(two[1]).post(`/v1/runs/${body.run_id}/cancel`)
    expect(refused.body.error.message).toContain("succeeded")
    for (const one of two) await one.stop()
  })
})

describe.each(backends)("two processes with a provider that counts, queues on %s", (backend) => {
  const meter = startMeter()
  let apps: readonly [App, App]
  beforeAll(async () => {
    const settings = {
      RUNGATE_MODE: "production",
      RUNGATE_PROVIDER_LEADMAGIC_API_KEY: "key-of-leadmagic",
      RUNGATE_PROVIDER_LEADMAGIC_BASE_URL: meter.url
    }
    const first = await startApp({ backend, settings })
    apps = [first, await startApp({ beside: first, settings })]
  })
  afterAll(async () => {
    await apps[1].stop()
    await apps[0].stop()
    await meter.stop()
  })

  test("T17 idem.concurrent_same_key: 50 parallel calls and 50 later ones reach the provider once", async () => {
    const org = await apps[0].tenant("5.00")
    const headers = { "idempotency-key": crypto.randomUUID() }
    const name = `T17-${backend}`
    // The provider takes 300 ms, so that every call arrives before the first one is answered.
    const input = { first_name: "Wait300", last_name: name, company_domain: "example.com" }
    const call = (index: number) =>
      org.over(apps[index % 2 === 0 ? 0 : 1]).run({ capability: "email.find", input, wait_seconds: 30 }, headers)
    const together = await times(50, call)
    const later = await times(50, call)
    const answers = [...together, ...later]
    expect(withStatus(answers, 200)).toHaveLength(100)
    const ids = new Set(answers.map((one) => one.body.run_id))
    const replays = answers.filter((one) => one.headers.get("idempotent-replay") === "true").length
    expect([ids.size, replays]).toEqual([1, 99])
    const calls = meter.of(name).length
    expect(calls).toBe(1)
    expect(await apps[0].sql("SELECT 1 FROM runs WHERE org_id = $1", [org.org_id])).toHaveLength(1)
    expect(answers[0]?.body.attempts).toHaveLength(1)
    expect((await org.ledger()).filter((one) => one.type === "settle")).toHaveLength(1)
    await apps[0].books()
    figures("T17 idem.concurrent_same_key", {
      backend,
      calls: answers.length,
      runs: ids.size,
      provider_calls: calls,
      replays,
      violations: calls - 1
    })
  })
})

test("T05 control: the naive check-then-update overshoots, so the race is real", async () => {
  const app = await startApp()
  const pool = new Pool({ connectionString: app.databaseUrl, max: 20 })
  try {
    await pool.query("CREATE TABLE naive (balance numeric, reserved numeric)")
    await pool.query("INSERT INTO naive VALUES (10.5, 0)")
    await Promise.all(Array.from({ length: 20 }, () => pool.query("SELECT pg_sleep(0.01)")))
    const grant = async () => {
      const { rows } = await pool.query("SELECT balance - reserved AS available FROM naive")
      if (Number(rows[0].available) < dollarHold) return false
      await pool.query("UPDATE naive SET reserved = reserved + $1", [dollarHold])
      return true
    }
    const granted = (await times(200, grant)).filter(Boolean).length
    expect(granted).toBeGreaterThan(10)
    figures("T05 control naive SQL", {
      requests: 200,
      grants: granted,
      overshoot_usd: Math.round((granted * dollarHold - 10.5) * 100) / 100
    })
  } finally {
    await pool.end()
    await app.stop()
  }
})
