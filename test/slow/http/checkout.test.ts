/**
 * Checkouts in production: what is asked of Stripe, what the customer is told when it does not answer, and that nothing but a paid session
 * ever credits, whatever became of the request that opened it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { startApp, type Tenant } from "../../kit/app.ts"
import { type Desk, moved, openDesk } from "../../layers/payments/cashdesk.ts"
import { startStripe } from "../../layers/payments/standin.ts"

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.stop())
afterEach(() => desk.books())

const path = "/v1/wallet/topups/checkout"
const opened = (org: Tenant) =>
  desk.apps[0].sql("SELECT state, session_id FROM payments WHERE org_id = $1", [org.org_id])
const sessionsOf = (org: Tenant) =>
  desk.stripe.lists.sessions().filter(({ client_reference_id }) => client_reference_id === org.org_id)
const unavailable = (message: RegExp) => ({
  error: { code: "service_unavailable", message: expect.stringMatching(message) },
  request_id: expect.any(String)
})

describe("the amount", () => {
  test.each([
    ["9.99", "must be at least 10.00"],
    ["0.00", "must be at least 10.00"],
    ["10.001", "must be whole cents"],
    ["10.000001", "must be whole cents"],
    ["1000000.00", "must be at most 999999.99"],
    ["-25.00", "decimal string"],
    ["1e2", "decimal string"],
    [25, "must be text in double quotes"],
    [undefined, ""]
  ])("%p is refused by its name, and nobody is asked", async (amount, why) => {
    const org = await desk.apps[0].tenant()
    const { status, body } = await org.post(path, { amount })
    expect([status, body.error.code]).toEqual([400, "invalid_request"])
    expect(body.error.details).toEqual([{ path: "amount", message: expect.stringContaining(why) }])
    expect([await opened(org), sessionsOf(org)]).toEqual([[], []])
  })

  test.each(["10.00", "10", "123.45", "999999.99"])("%p is asked for to the cent", async (amount) => {
    const { org, session_id } = await desk.buyer(amount)
    expect(sessionsOf(org)).toMatchObject([
      { id: session_id, amount_total: Math.round(100 * Number(amount)), currency: "usd" }
    ])
    expect([await org.ledger(), (await org.wallet()).balance]).toEqual([[], "0.00"])
  })
})

test("two checkouts of one organization are two payments, of one customer, each credited by its own event", async () => {
  const first = await desk.paid("10.00")
  const { org } = first
  const [second, third] = await Promise.all([desk.checkout(org, "20.00"), desk.checkout(org, "30.00")])
  const customers = sessionsOf(org).map(({ customer }) => customer)
  expect(new Set(customers)).toEqual(new Set([expect.stringMatching(/^cus_/)]))
  desk.stripe.pay(third.session_id)
  await desk.tell(desk.stripe.events.at(-1) ?? {})
  await desk.applied(org)
  expect(await moved(org)).toEqual(["topup 10.00", "topup 30.00"])
  desk.stripe.pay(second.session_id)
  await desk.tell(desk.stripe.events.at(-1) ?? {})
  await desk.applied(org)
  expect(await moved(org)).toEqual(["topup 10.00", "topup 30.00", "topup 20.00"])
  expect((await org.ledger()).map(({ reference }) => reference)).toEqual(
    [second, third, first].map(({ session_id }) => session_id)
  )
})

test("the thirty-first checkout within an hour is refused, for this organization only", async () => {
  const { org } = await desk.buyer()
  for (let count = 1; count < 30; count++) await desk.checkout(org)
  const { status, body } = await org.post(path, { amount: "25.00" })
  expect([status, body.error.code, body.error.message]).toEqual([
    429,
    "rate_limited",
    expect.stringContaining("too many checkouts in the last hour")
  ])
  expect(sessionsOf(org)).toHaveLength(30)
  await desk.buyer()
  await desk.apps[0].sql("UPDATE payments SET created_at = now() - interval '61 minutes' WHERE org_id = $1", [
    org.org_id
  ])
  await desk.checkout(org)
})

test("sixty checkouts at once open no more than thirty", async () => {
  const org = await desk.apps[0].tenant()
  const replies = await Promise.all(Array.from({ length: 60 }, () => org.post(path, { amount: "25.00" })))
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(30)
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(30)
})

describe("Stripe does not answer", () => {
  test.each(["close", 500, 503, 429] as const)(
    "before anything happened (%p): 503, nothing is paid, and a later try works",
    async (how) => {
      const org = await desk.apps[0].tenant()
      const fault = desk.stripe.fault({ on: "checkout", how, times: 2 })
      const { status, body } = await org.post(path, { amount: "25.00" })
      expect([status, body]).toEqual([503, unavailable(/^Stripe /)])
      fault.lift()
      expect([await opened(org), sessionsOf(org)]).toEqual([[{ state: "open", session_id: null }], []])
      expect((await desk.paid("25.00", org)).org).toBe(org)
      expect(await moved(org)).toEqual(["topup 25.00"])
    }
  )

  test("after it made the session: the caller is told to try again, and who pays on it all the same is credited", async () => {
    const org = await desk.apps[0].tenant()
    desk.stripe.fault({ on: "checkout", at: "after", how: 500 })
    expect((await org.post(path, { amount: "25.00" })).status).toBe(503)
    const [lost] = sessionsOf(org)
    // What was told to the caller is that there is no checkout, so a second one is opened and paid, too.
    const second = await desk.paid("30.00", org)
    desk.stripe.pay(lost?.id)
    const event = desk.stripe.events.at(-1) ?? expect.unreachable("nobody paid")
    for (const index of [0, 1]) await desk.tell(event, index)
    await desk.applied(org)
    expect(await moved(org)).toEqual(["topup 30.00", "topup 25.00"])
    expect((await org.ledger()).map(({ reference }) => reference)).toEqual([lost?.id, second.session_id])
  })

  test("in time: the payment is credited while the caller still waits, who then gets the session", async () => {
    const org = await desk.apps[0].tenant()
    const fault = desk.stripe.fault({ on: "checkout", at: "after", how: "hang" })
    const waiting = org.post(path, { amount: "25.00" })
    await fault.struck
    const [session] = sessionsOf(org)
    desk.stripe.pay(session?.id)
    await desk.tell(desk.stripe.events.at(-1) ?? {}, 1)
    await desk.applied(org)
    expect(await moved(org)).toEqual(["topup 25.00"])
    fault.release()
    expect((await waiting).body).toMatchObject({ status: "checkout", session_id: session?.id })
    expect(await opened(org)).toEqual([{ state: "paid", session_id: session?.id }])
  })

  test("and the caller hangs up: who pays on the session is credited", async () => {
    const org = await desk.apps[0].tenant()
    const fault = desk.stripe.fault({ on: "checkout", at: "after", how: "hang" })
    const gone = new AbortController()
    const asked = org.post(path, { amount: "25.00" }, { signal: gone.signal }).catch(() => "hung up")
    await fault.struck
    gone.abort()
    expect(await asked).toBe("hung up")
    fault.release()
    const [session] = sessionsOf(org)
    desk.stripe.pay(session?.id)
    await desk.tell(desk.stripe.events.at(-1) ?? {})
    await desk.applied(org)
    expect(await moved(org)).toEqual(["topup 25.00"])
  })
})

test("production without Stripe says what its operator has to do, and opens nothing", async () => {
  const app = await startApp({ settings: { RUNGATE_MODE: "production" } })
  const org = await app.tenant()
  const { status, body } = await org.post(path, { amount: "25.00" })
  expect([status, body]).toEqual([503, unavailable(/STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET/)])
  expect(await app.sql("SELECT 1 FROM payments")).toEqual([])
  await app.books()
  await app.stop()
})

test("the sandbox simulates the payment at once, labels it, and asks nobody, whatever account is configured", async () => {
  const stripe = await startStripe()
  const app = await startApp({ settings: stripe.settings })
  const org = await app.tenant()
  const { status, body } = await org.post(path, { amount: "25.00" })
  expect([status, body]).toEqual([
    200,
    { status: "simulated", session_id: expect.any(String), transaction_id: expect.stringMatching(/^txn_/) }
  ])
  expect(await org.ledger()).toMatchObject([
    { id: body.transaction_id, type: "topup", amount: "25.00", note: expect.stringContaining("no money moved") }
  ])
  expect(stripe.calls).toEqual([])
  await app.books()
  await app.stop()
  await stripe.stop()
})
