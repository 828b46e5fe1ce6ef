/**
 * The webhook is public, so anybody can call it: only what Stripe signed for this account acts, once, and only on the payment
 * that it is about. What a customer's browser brings back credits nothing.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { createHmac } from "node:crypto"
import { figures, startApp, until } from "../../kit/app.ts"
import type { Thing } from "../../layers/payments/account.ts"
import { type Desk, moved, openDesk, type Sale, webhookPath } from "../../layers/payments/cashdesk.ts"
import { type DeliverOptions, startStripe, webhookSecret } from "../../layers/payments/standin.ts"

let desk: Desk
const newSecret = "whsec_the_next_one"
beforeAll(async () => {
  // While a signing secret is replaced, both are listed.
  desk = await openDesk({ settings: { STRIPE_WEBHOOK_SECRET: `${newSecret}, ${webhookSecret}` } })
})
afterAll(() => desk.stop())
afterEach(() => desk.books())

/** A checkout that is paid at Stripe, and the event that says so, still to be delivered. */
const unheard = async (amount?: string): Promise<Sale & { readonly intent: string; readonly event: Thing }> => {
  const sale = await desk.buyer(amount)
  const { payment_intent: intent } = desk.stripe.pay(sale.session_id)
  return { ...sale, intent, event: desk.stripe.events.at(-1) ?? expect.unreachable("nobody paid") }
}
const seconds = () => Math.floor(Date.now() / 1000)
const mac = (time: number, body: string, secret = webhookSecret) =>
  createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")
/** As the local Stripe prints it. */
const printed = (event: Thing) => JSON.stringify(event, null, 2)
const problem = (code: string) => ({
  error: { code, message: expect.any(String) },
  request_id: expect.stringMatching(/^req_/)
})

describe("the endpoint", () => {
  test.each(["GET", "PUT", "DELETE", "PATCH"])("%s is not for it", async (method) => {
    const { status, headers, body } = await desk.apps[0].call(null, method, webhookPath)
    expect([status, headers.get("allow"), body]).toEqual([405, "POST", problem("method_not_allowed")])
  })

  test("a body above 1 MiB is refused, also one that does not say its length and is signed", async () => {
    const { event } = await unheard()
    const before = await desk.everything()
    const body = printed({ ...event, padding: "x".repeat(1_100_000) })
    const time = seconds()
    const headers = { "stripe-signature": `t=${time},v1=${mac(time, body)}` }
    const chunked = new ReadableStream({
      start: (stream) => {
        for (let at = 0; at < body.length; at += 100_000) stream.enqueue(Buffer.from(body.slice(at, at + 100_000)))
        stream.close()
      }
    })
    for (const sent of [body, chunked]) {
      const response = await fetch(desk.url(), { method: "POST", headers, body: sent })
      expect([response.status, await response.json()]).toEqual([413, problem("payload_too_large")])
    }
    expect(await desk.everything()).toBe(before)
  })

  test("the sandbox, and production without Stripe, believe no message at all", async () => {
    for (const settings of [{}, { RUNGATE_MODE: "production" }]) {
      const app = await startApp({ settings })
      const org = await app.tenant()
      const stripe = await startStripe()
      const object = { id: "cs_1", mode: "payment", payment_status: "paid", amount_total: 2500, currency: "usd" }
      const event = { id: "evt_1", object: "event", livemode: false, data: { object } }
      const told = await stripe.deliver(`${app.url}${webhookPath}`, { ...event, type: "checkout.session.completed" })
      expect([told.status, JSON.parse(told.text)]).toEqual([400, problem("invalid_request")])
      expect(await org.ledger()).toEqual([])
      await app.books()
      await app.stop()
      await stripe.stop()
    }
  })

  test("a refund that can't be placed while Stripe is away is 503, so that it comes again, and then counts", async () => {
    const { org, intent, event } = await unheard()
    desk.stripe.refund(intent, 500)
    const refund = desk.about(intent).find(({ type }) => type === "refund.created") ?? expect.unreachable("no refund")
    const before = await desk.everything()
    const away = desk.stripe.fault({ on: /^GET \/v1\/payment_intents\//, how: 503, times: 1_000 })
    const { status, text } = await desk.stripe.deliver(desk.url(), refund)
    away.lift()
    expect([status, JSON.parse(text)]).toEqual([503, problem("service_unavailable")])
    expect(await desk.everything()).toBe(before)
    await desk.tellAll([refund, event])
    await desk.applied(org)
    expect(await moved(org)).toEqual(["topup 25.00", "refund -5.00"])
  })

  test("events of other shops and of kinds that nobody asked for are received, and do nothing", async () => {
    const before = await desk.everything()
    const object = { id: "cs_theirs", mode: "payment", payment_status: "paid", amount_total: 990, currency: "usd" }
    const envelope = { object: "event", livemode: false }
    const strange: ReadonlyArray<Thing> = [
      { id: "evt_s1", type: "checkout.session.completed", data: { object } },
      {
        id: "evt_s2",
        type: "checkout.session.completed",
        data: { object: { ...object, metadata: { payment_id: "pay_x" } } }
      },
      { id: "evt_s3", type: "checkout.session.completed", data: { object: null } },
      { id: "evt_s4", type: "checkout.session.completed", data: { object: [] } },
      { id: "evt_s5", type: "customer.created", data: { object: { id: "cus_1" } } },
      { id: "evt_s6", type: "toString", data: { object } },
      {
        id: "evt_s7",
        type: "refund.created",
        data: { object: { id: "re_1", amount: 5, currency: "usd", payment_intent: "pi_no" } }
      }
    ]
    for (const event of strange)
      expect(await desk.tell({ ...envelope, ...event })).toMatchObject({ outcome: "ignored" })
    expect(await desk.everything()).toBe(before)
  })
})

test("T44 webhook.signature_attacks: none of them is heard, and rotation goes on", async () => {
  const { event, org } = await unheard()
  const { event: other } = await unheard()
  const body = printed(event)
  const now = seconds()
  const signed = mac(now, body)
  const liveBody = printed({ ...event, livemode: true })
  const connected = printed({ ...event, account: "acct_another" })
  const attacks: Record<string, DeliverOptions> = {
    "no header": { header: null },
    "an empty header": { header: "" },
    "a wrong secret": { secret: "whsec_wrong" },
    "the secret in another case": { secret: webhookSecret.toUpperCase() },
    "v0 only": { header: `t=${now},v0=${signed}` },
    "two times": { header: `t=${now - 86_400},t=${now},v1=${signed}` },
    "a time that was not signed": { header: `t=${now + 1},v1=${signed}` },
    "no time": { header: `v1=${signed}` },
    "a cut signature": { header: `t=${now},v1=${signed.slice(0, -2)}` },
    "an empty signature": { header: `t=${now},v1=` },
    "the signature of another event": { header: `t=${now},v1=${mac(now, printed(other))}` },
    "the same JSON, printed again": { header: `t=${now},v1=${signed}`, body: JSON.stringify(event) },
    "a larger amount": { header: `t=${now},v1=${signed}`, body: body.replaceAll("2500", "9900") },
    "no body": { header: `t=${now},v1=${mac(now, "")}`, body: "" },
    "no JSON": { header: `t=${now},v1=${mac(now, "{")}`, body: "{" },
    "another shape": { header: `t=${now},v1=${mac(now, "[]")}`, body: "[]" },
    "301 seconds old": { timestamp: now - 301 },
    "a day in the future": { timestamp: now + 86_400 },
    "of live mode, for a test key": { header: `t=${now},v1=${mac(now, liveBody)}`, body: liveBody },
    "of a connected account": { header: `t=${now},v1=${mac(now, connected)}`, body: connected }
  }
  const before = await desk.everything()
  for (const [name, how] of Object.entries(attacks)) {
    const { status, text } = await desk.stripe.deliver(desk.url(), event, how)
    expect([name, status, JSON.parse(text)]).toEqual([name, 400, problem("invalid_request")])
    expect([name, text.includes("whsec"), await desk.everything()]).toEqual([name, false, before])
  }
  const rotated = [newSecret, webhookSecret]
  for (const secret of rotated) expect(await desk.tell(event, 0, { secret })).toMatchObject({ outcome: "stored" })
  await desk.applied()
  expect((await org.wallet()).balance).toBe("25.00")
  figures("T44 webhook.signature_attacks", {
    cases: Object.keys(attacks).length,
    rotated: rotated.length
  })
})

test("T45 webhook.replay_later: a recorded message is 2xx without effect while its time lasts, and 400 after", async () => {
  const { event, org } = await unheard()
  // Signed so long ago that its time is up within seconds.
  const timestamp = seconds() - 298
  const replay = () => desk.stripe.deliver(desk.url(), event, { timestamp })
  expect((await replay()).status).toBe(200)
  await desk.applied()
  const before = await desk.everything()
  let inside = 0
  const last = await until(
    "the window closes",
    async () => {
      const { status } = await replay()
      await desk.applied()
      expect(await desk.everything()).toBe(before)
      if (status === 200) inside += 1
      return status
    },
    (status) => status !== 200
  )
  expect(last).toBe(400)
  expect(seconds() - timestamp).toBeGreaterThanOrEqual(300)
  expect(inside).toBeGreaterThan(0)
  const credits = (await org.ledger()).length
  expect(credits).toBe(1)
  figures("T45 webhook.replay_later", { inside, credits, outside: last })
})

describe("T46 topup.return_url_forgery", () => {
  test("pages that a customer comes back to credit nothing, whatever their address says", async () => {
    const { org, session_id, payment_id } = await desk.buyer()
    const before = await desk.everything()
    const claims = [
      "",
      `?session_id=${session_id}`,
      `?payment_id=${payment_id}&paid=true`,
      "?amount=1000&status=complete"
    ]
    let visits = 0
    for (const page of ["/top-up/success", "/top-up/cancelled"]) {
      for (const claim of [...claims, `?org_id=${org.org_id}&success=1#paid`, `?${"x=1&".repeat(200)}`]) {
        for (const token of [null, org.key]) {
          const { status, text } = await desk.apps[visits % 2 === 0 ? 0 : 1].call(token, "GET", `${page}${claim}`)
          visits += 1
          expect(status).toBe(200)
          // Nothing of the address is repeated, so nobody writes on this page.
          expect(text).not.toContain(session_id)
        }
        expect((await desk.apps[0].call(org.key, "POST", `${page}${claim}`)).status).toBe(405)
      }
    }
    expect(await desk.everything()).toBe(before)
    figures("T46 topup.return_url_forgery", { visits })
  })

  test("what a client says about itself in a checkout is not believed", async () => {
    const org = await desk.apps[0].tenant()
    const victim = await desk.apps[0].tenant()
    const claims = {
      org_id: victim.org_id,
      paid: true,
      status: "paid",
      success_url: "https://evil.example/",
      currency: "jpy"
    }
    for (const [name, value] of Object.entries(claims)) {
      const { status, body } = await org.post("/v1/wallet/topups/checkout", { amount: "10.00", [name]: value })
      expect([status, body.error?.details?.[0]?.path]).toEqual([400, name])
    }
    const { session_id } = await desk.checkout(org, "10.00")
    expect(desk.stripe.lists.sessions().find(({ id }) => id === session_id)).toMatchObject({
      amount_total: 1_000,
      currency: "usd",
      client_reference_id: org.org_id,
      metadata: { org_id: org.org_id },
      success_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1[:\d]*\/top-up\/success$/)
    })
    expect([await org.ledger(), await victim.ledger()]).toEqual([[], []])
  })

  /** Signed by Stripe's secret, and still not true of the payment that they name. */
  const forgeries: ReadonlyArray<
    readonly [string, (session: Thing, theirs: Sale & { readonly intent: string }) => Thing, "mismatch" | "ignored"]
  > = [
    ["more money", (session) => ({ ...session, amount_total: 250_000 }), "mismatch"],
    ["less money", (session) => ({ ...session, amount_total: 1 }), "mismatch"],
    ["no money", (session) => ({ ...session, amount_total: 0 }), "mismatch"],
    ["another currency", (session) => ({ ...session, currency: "jpy" }), "mismatch"],
    ["another session", (session) => ({ ...session, id: "cs_test_forged" }), "mismatch"],
    [
      "a payment of another organization",
      (session, { payment_id }) => ({ ...session, metadata: { payment_id } }),
      "ignored"
    ],
    ["a session of another organization", (session, { session_id }) => ({ ...session, id: session_id }), "ignored"],
    ["a charge of another organization", (session, { intent }) => ({ ...session, payment_intent: intent }), "ignored"],
    ["no payment that exists", (session) => ({ ...session, id: "cs_x", metadata: { payment_id: "pay_x" } }), "ignored"],
    ["a mode without money", (session) => ({ ...session, mode: "setup" }), "ignored"],
    ["not paid yet", (session) => ({ ...session, payment_status: "unpaid" }), "ignored"],
    ["nothing to pay", (session) => ({ ...session, payment_status: "no_payment_required" }), "ignored"]
  ]

  test("signed events that don't fit credit nobody, and the true one still does", async () => {
    let n = 0
    for (const [what, forge, expected] of forgeries) {
      const { org, event, payment_id } = await unheard()
      const theirs = await desk.paid("25.00")
      const open = await unheard()
      const before = await Promise.all([theirs.org.ledger(), open.org.ledger()])
      // Whose charge it is that nobody has told of, only Stripe knows.
      const owners: ReadonlyArray<Sale & { readonly intent: string }> = what.startsWith("a charge")
        ? [theirs]
        : [theirs, open]
      for (const owner of owners) {
        n += 1
        const id = `evt_forged${n}`
        const heard = await desk.tell({ ...event, id, data: { object: forge(event.data.object, owner) } }, n)
        await desk.applied()
        const outcomes = await desk.outcomes(id)
        expect([what, heard.outcome, outcomes]).toEqual([
          what,
          expected === "mismatch" ? "stored" : "ignored",
          expected === "mismatch" ? ["mismatch"] : []
        ])
      }
      expect([what, await org.ledger(), await desk.payment(payment_id)]).toMatchObject([what, [], { state: "open" }])
      expect([what, ...(await Promise.all([theirs.org.ledger(), open.org.ledger()]))]).toEqual([what, ...before])
      await desk.tell(event)
      await desk.tell(open.event)
      await desk.applied()
      expect([what, (await org.wallet()).balance, (await open.org.wallet()).balance]).toEqual([what, "25.00", "25.00"])
    }
    figures("T46 forged events", { forgeries: n, true_events_after: 2 * forgeries.length })
  })

  test("a refund is taken from the payment that it is of, whatever else it says", async () => {
    const mine = await desk.paid("25.00")
    const theirs = await desk.paid("25.00")
    desk.stripe.refund(mine.intent, 500)
    const refund =
      desk.about(mine.intent).find(({ type }) => type === "refund.created") ?? expect.unreachable("no refund")
    const object = { ...refund.data.object, metadata: { payment_id: theirs.payment_id, org_id: theirs.org.org_id } }
    await desk.tell({ ...refund, data: { object } })
    await desk.applied()
    // One refund's id never stands for two payments.
    await desk.tell({ ...refund, id: "evt_moved", data: { object: { ...object, payment_intent: theirs.intent } } })
    await desk.applied()
    expect([(await mine.org.wallet()).balance, (await theirs.org.wallet()).balance]).toEqual(["20.00", "25.00"])
  })
})
