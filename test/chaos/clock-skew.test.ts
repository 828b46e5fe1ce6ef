/**
 * T33 clock.skew: one process whose clock is wrong beside one that is right, over one database.
 *
 * Leases, the day of the daily guard and the age of a webhook are the database's to judge, so the wrong clock takes nothing over,
 * starts no new day, and refuses and accepts the same events as the right one. The clock is bent by libfaketime, outside of the process.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { callUrl, figures, timed } from "../kit/app.ts"
import { bent, canBend } from "./clock.ts"
import { type Service, until } from "./processes.ts"
import { type Customer, leaseSeconds, World } from "./world.ts"
import { type LocalStripe, startStripe } from "../layers/payments/standin.ts"

const hour = 3_600
/** Two hours are hardly ever another day; twenty-six always are. */
const skews = [2 * hour, -2 * hour, 26 * hour]
const webhookSkews = [400, -400]
const windowSeconds = 300
/** The lease, a sweep, the patience with a lane whose turn-holder may be dead, and a slow machine. With a wrong clock it takes hours. */
const recoverySecondsMax = leaseSeconds + 25
/** A stuck lane takes eight seconds for every command, and a run has two of them. */
const promptMillisMax = 12_000

describe.skipIf(!canBend)("T33 clock.skew", () => {
  let world: World
  let stripe: LocalStripe
  let right: Service
  let wrong: Service
  beforeAll(async () => {
    stripe = await startStripe({ live: true })
    world = await World.open({ backend: "postgres", settings: { ...stripe.settings, RUNGATE_HEALTH_SECONDS: "0" } })
    // With little room of its own, so that the other process executes most runs.
    right = await world.start("all", { RUNGATE_CONCURRENCY: "2", RUNGATE_ORG_CONCURRENCY: "2" })
    await world.openAccounts()
  })
  afterEach(() => wrong?.kill())
  afterAll(async () => {
    await world?.close()
    await stripe?.stop()
  })

  const call = async (service: Service, customer: Customer, method: string, path: string, body?: unknown) =>
    callUrl(service.url, customer.token, method, path, body === undefined ? {} : { body })
  const clockOf = async (service: Service) => {
    const date = (await callUrl(service.url, null, "GET", "/livez")).headers.get("date")
    return date === null ? null : Math.round((Date.parse(date) - Date.now()) / 1_000)
  }

  /** Runs that last longer than a lease: only a wrong look at a clock ends or repeats them. */
  const runs = async () => {
    const asked = Array.from({ length: 8 }, () => world.find(`Wait${leaseSeconds * 1_000 + 500}`))
    const told = await Promise.all(asked.map((one, at) => world.submit(at % 2 === 0 ? wrong : right, one)))
    expect(told.filter((one) => one === null)).toEqual([])
    await world.settled(20)
    const mine = (await world.runs()).filter((run) => asked.some((one) => one.key === run.key))
    expect(mine.map((run) => run.status)).toEqual(asked.map(() => "succeeded"))
    expect(asked.map((one) => world.meter.of(one.key).length)).toEqual(asked.map(() => 1))
    return mine.filter((run) => run.attempts.length !== 1).length
  }

  /** What a dead process held is taken over when its lease ends, not hours sooner or later. */
  const death = async () => {
    const asked = Array.from({ length: 6 }, () => world.find("Wait1000"))
    await Promise.all(asked.map((one) => world.submit(wrong, one)))
    await wrong.kill()
    const recovery_s = await world.settled(20)
    expect(recovery_s).toBeLessThan(recoverySecondsMax)
    // Nothing of it is left in the way: the queues' own locks are dated by the clock of whoever took them.
    for (const one of [1, 2].map(() => world.find("Hit"))) {
      const { value, millis } = await timed(() => world.submit(right, one, 20))
      expect(value?.run_status).toBe("succeeded")
      expect(millis).toBeLessThan(promptMillisMax)
    }
    return recovery_s
  }

  /** The day's spending is one number and one day, whichever process is asked, and its limit holds on both. */
  const guard = async () => {
    const [customer] = world.customers
    if (customer === undefined) throw new Error("no customer")
    const read = async (service: Service) => (await call(service, customer, "GET", "/v1/spend-guard")).body
    const today = await read(right)
    expect(await read(wrong)).toEqual(today)
    expect(Number(today.spent_today)).toBeGreaterThan(0)
    const [midnight] = await world.query<{ at: string }>(
      "SELECT to_char(date_trunc('day', now() AT TIME ZONE 'UTC') + interval '1 day', 'YYYY-MM-DD') || 'T00:00:00.000Z' AS at"
    )
    expect(today.resets_at).toBe(midnight?.at)
    const set = await call(wrong, customer, "POST", "/v1/spend-guard", { daily_limit: today.spent_today })
    expect(set.status).toBe(200)
    const input = { first_name: "Hit", last_name: "Late", company_domain: "example.com" }
    for (const service of [wrong, right]) {
      const blocked = await call(service, customer, "POST", "/v1/run", { capability: "email.find", input })
      expect([blocked.status, blocked.body.error?.code]).toEqual([402, "budget_exceeded"])
    }
    // Only a person may remove a limit, and this customer has a key.
    await world.query("UPDATE wallets SET daily_limit = NULL")
  }

  /** An event of now is taken, an old one and one of the wrong clock's own now are not. */
  const expectWindowKept = async (skew: number) => {
    const [, customer] = world.customers
    if (customer === undefined) throw new Error("no customer")
    const { status, body } = await call(wrong, customer, "POST", "/v1/wallet/topups/checkout", { amount: "10.00" })
    expect([status, body.status]).toEqual([200, "checkout"])
    stripe.pay(body.session_id)
    const paid = stripe.events.at(-1)
    if (paid === undefined) throw new Error("no event")
    const now = Math.floor(Date.now() / 1_000)
    const send = async (timestamp: number) =>
      (await stripe.deliver(`${wrong.url}/v1/webhooks/stripe`, paid, { timestamp })).status
    const credits = () =>
      world.query("SELECT 1 FROM ledger WHERE org_id = $1 AND reference = $2", [customer.org_id, body.session_id])
    const refused = [await send(now - windowSeconds - 5), await send(now + windowSeconds + 60), await send(now + skew)]
    expect(refused).toEqual([400, 400, 400])
    expect(await credits()).toEqual([])
    expect([await send(now - windowSeconds + 30), await send(now)]).toEqual([200, 200])
    await until("the credit", 10_000, async () => (await credits()).length === 1)
  }

  test.each(skews)(
    "a clock that is %d s off: leases, the day, webhooks",
    async (skew) => {
      wrong = await world.start("all", bent(skew))
      const clock = await clockOf(wrong)
      if (clock !== null) expect(Math.abs(clock - skew)).toBeLessThan(10)
      const wrong_expiries = await runs()
      await guard()
      await expectWindowKept(skew)
      const recovery_s = await death()
      const violations = await world.violations()
      figures("T33 clock.skew", {
        skew_s: skew,
        clock_seen_s: clock ?? "unknown",
        wrong_expiries,
        recovery_s: Number(recovery_s.toFixed(1)),
        violations: violations.length
      })
      expect([wrong_expiries, violations]).toEqual([0, []])
    },
    180_000
  )

  test.each(webhookSkews)("a clock that is %d s off: webhooks", async (skew) => {
    wrong = await world.start("all", bent(skew))
    await expectWindowKept(skew)
    figures("T33 clock.skew", { skew_s: skew, part: "webhook" })
  })
})
