/**
 * T42 webhook.crash_then_retry: the process dies by SIGKILL between two steps of money coming in, and nobody else takes turns meanwhile.
 *
 * The customer asks again, the processor delivers again, and the next worker goes on: every payment is credited once, and no
 * card is charged twice.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { digest } from "../../src/layers/accounts/Secrets.ts"
import { callUrl } from "../kit/app.ts"
import { type LocalStripe, startStripe } from "../layers/payments/standin.ts"
import { type Service, until } from "./processes.ts"
import { type Customer, leaseSeconds, report, World } from "./world.ts"

/** With the pass at which the process dies. */
const ofCheckout = ["checkout.created:1", "webhook.before:1", "webhook.after:1"]
/** The only turn is the one that credits. */
const ofCredit = ["turn.before_commit:1", "turn.after_commit:1"]
/** One turn reserves, one settles and calls for the charge, one credits it. */
const ofCharge = [
  ...[2, 3].flatMap((hit) => [`turn.before_commit:${hit}`, `turn.after_commit:${hit}`]),
  "charge.before:1",
  "charge.after:1"
]
/** A claimed charge is another worker's after two leases, and each step may wait for a sweep. */
const recoverySecondsMax = 2 * leaseSeconds + 8

describe("T42 webhook.crash_then_retry", () => {
  let world: World
  let stripe: LocalStripe
  let front: Service
  beforeAll(async () => {
    stripe = await startStripe({ live: true })
    world = await World.open({ backend: "postgres", settings: stripe.settings })
    front = await world.start("http")
  })
  afterAll(async () => {
    await world?.close()
    await stripe?.stop()
  })

  // Whoever a failed test left behind would take the next one's turns.
  afterEach(() => Promise.all(world.services.map((one) => (one === front ? undefined : one.kill()))))

  let customers = 0
  /** The world's one customer from now on, with nothing in its wallet. */
  const customer = async (): Promise<Customer> => {
    customers += 1
    const org_id = `org_payer${customers}`
    const token = `rg_live_${crypto.randomUUID().replaceAll("-", "")}`
    const lane = customers % 2
    await world.query("INSERT INTO orgs (org_id, name) VALUES ($1, 'Payer')", [org_id])
    await world.query("INSERT INTO wallets (org_id, lane) VALUES ($1, $2)", [org_id, lane])
    await world.query(
      "INSERT INTO api_keys (key_id, org_id, name, environment, key_hash, display) VALUES ($1, $2, 'chaos', 'live', $3, 'x')",
      [`key_payer${customers}`, org_id, digest(token)]
    )
    const made = { org_id, token, lane }
    world.customers.splice(0, world.customers.length, made)
    return made
  }
  const checkout = async (service: Service, { token }: Customer) => {
    const asked = callUrl(service.url, token, "POST", "/v1/wallet/topups/checkout", { body: { amount: "25.00" } })
    const answer = await asked.catch(() => undefined)
    if (answer !== undefined && answer.status !== 200) throw new Error(`checkout: ${answer.status} ${answer.text}`)
    return answer?.body.session_id as string | undefined
  }
  /** As the processor does it: to one address, and again until it is taken. The dead process is no longer behind it. */
  const deliver = async (first: Service, from: number) => {
    for (const event of stripe.events.slice(from)) {
      await until(`${event["type"]} is taken`, 20_000, async () => {
        const { url } = first.alive() ? first : front
        const answer = await stripe.deliver(`${url}/v1/webhooks/stripe`, event).catch(() => undefined)
        return answer?.status === 200
      })
    }
  }

  const topUps = async ({ org_id }: Customer) =>
    (
      await world.query<{ amount: number; reference: string }>(
        "SELECT amount::float8 AS amount, reference FROM ledger WHERE org_id = $1 AND type = 'topup'",
        [org_id]
      )
    )
      .map(({ amount, reference }) => `${amount / 1e6} ${reference}`)
      .sort()
  const died = async (doomed: Service) => {
    await until("death", 20_000, () => !doomed.alive())
    expect((await doomed.ended).signal).toBe("SIGKILL")
    return performance.now()
  }
  const stopped = async (worker: Service) => {
    worker.signal("SIGTERM")
    await worker.ended
  }

  /** A new worker brings what is left to its end: just these top-ups, whatever is delivered again. */
  const expectRecovered = async (point: string, payer: Customer, diedAt: number, expected: ReadonlyArray<string>) => {
    const asked = performance.now()
    const worker = await world.start("worker")
    // How long a process takes to start is the machine's.
    const start_s = (performance.now() - asked) / 1_000
    const sorted = [...expected].sort()
    await until(`the credit after ${point}`, 30_000, async () => (await topUps(payer)).length >= sorted.length)
    const recovery_s = (performance.now() - diedAt) / 1_000 - start_s
    for (const _ of [1, 2]) await deliver(front, 0)
    await until("every command is applied", 10_000, async () => {
      const [row] = await world.query<{ left: number }>("SELECT count(*) AS left FROM mailbox")
      return row?.left === 0
    })
    const violations = [...(await world.violations())]
    const credited = await topUps(payer)
    if (credited.join() !== sorted.join()) violations.push(`credited ${credited.join()}, not ${sorted.join()}`)
    const automatic = await world.query<{ payment_id: string }>(
      "SELECT payment_id FROM payments WHERE org_id = $1 AND kind = 'auto'",
      [payer.org_id]
    )
    const charges = automatic.flatMap(({ payment_id }) => stripe.charges(payment_id)).length
    report({
      test: "T42",
      point,
      credits: credited.length,
      charges,
      faults: 1,
      violations,
      recovery_s: Number(recovery_s.toFixed(2))
    })
    expect(violations).toEqual([])
    expect(recovery_s).toBeLessThan(recoverySecondsMax)
    await stopped(worker)
    return { charges, automatic: automatic.length }
  }

  test.each(ofCheckout)(
    "%s",
    async (point) => {
      const payer = await customer()
      const doomed = await world.start("all", { RUNGATE_CRASH_AT: point })
      const heard = await checkout(doomed, payer)
      const session_id = heard ?? (await checkout(front, payer))
      if (session_id === undefined) throw new Error("no checkout")
      // What was made for an answer that never came can be paid all the same; it is a payment of its own.
      const orphans = stripe.lists
        .sessions()
        .filter((one) => one["client_reference_id"] === payer.org_id && one["id"] !== session_id)
        .map((one) => String(one["id"]))
      expect(orphans).toHaveLength(heard === undefined ? 1 : 0)
      const from = stripe.events.length
      for (const id of [session_id, ...orphans]) stripe.pay(id)
      await deliver(doomed, from)
      const diedAt = await died(doomed)
      const expected = [session_id, ...orphans].map((id) => `25 ${id}`)
      await expectRecovered(point, payer, diedAt, expected)
    },
    180_000
  )

  test.each(ofCredit)(
    "%s of the credit",
    async (point) => {
      const payer = await customer()
      const session_id = await checkout(front, payer)
      const doomed = await world.start("worker", { RUNGATE_CRASH_AT: point })
      const from = stripe.events.length
      stripe.pay(session_id ?? "")
      await deliver(front, from)
      await expectRecovered(`${point} of the credit`, payer, await died(doomed), [`25 ${session_id}`])
    },
    180_000
  )

  test.each(ofCharge)(
    "%s of an automatic top-up",
    async (point) => {
      const payer = await customer()
      const calm = await world.start("worker")
      const session_id = await checkout(front, payer)
      const from = stripe.events.length
      stripe.pay(session_id ?? "")
      await deliver(front, from)
      await until("the first credit", 20_000, async () => (await topUps(payer)).length === 1)
      const body = { enabled: true, threshold: "25.00", amount: "20.00" }
      const set = await callUrl(front.url, await world.session(payer), "POST", "/v1/wallet/auto-topup", { body })
      expect([set.status, set.text]).toEqual([200, expect.stringContaining("true")])
      await stopped(calm)

      const doomed = await world.start("worker", { RUNGATE_CRASH_AT: point })
      expect(await world.submit(front, world.find("Hit"))).not.toBeNull()
      const diedAt = await died(doomed)
      const worker = await world.start("worker")
      const [charge] = await until("the charge", 30_000, async () => {
        const rows = await world.query<{ payment_intent: string }>(
          "SELECT payment_intent FROM payments WHERE org_id = $1 AND kind = 'auto' AND state = 'paid'",
          [payer.org_id]
        )
        return rows.length > 0 ? rows : undefined
      })
      await stopped(worker)
      const expected = [`25 ${session_id}`, `20 ${charge?.payment_intent}`]
      const found = await expectRecovered(`${point} of an automatic top-up`, payer, diedAt, expected)
      expect(found).toEqual({ charges: 1, automatic: 1 })
    },
    180_000
  )
})
