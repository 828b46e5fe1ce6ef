/**
 * Webhooks as they really come: repeated, all at once, out of order and to any process. Whatever the way, the books end the same.
 *
 * Two processes over one database; each event goes to one or the other.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { figures, oneBackend, type Tenant } from "../../kit/app.ts"
import { type Desk, openDesk, orders } from "../../layers/payments/cashdesk.ts"
import type { Thing } from "../../layers/payments/account.ts"

const topups = async (org: Tenant) => (await org.ledger()).filter((entry) => entry.type === "topup")

describe.each(oneBackend)("events of payments, queues on %s", (backend) => {
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk({ backend })
  })
  afterAll(() => desk.stop())
  afterEach(() => desk.books())

  test("T41 webhook.duplicate: an event twenty times in a row, and twenty times at once over two processes", async () => {
    const row = await desk.buyer()
    const crowd = await desk.buyer()
    const completed = (session_id: string) => {
      desk.stripe.pay(session_id)
      return desk.stripe.events.at(-1) ?? expect.unreachable("nobody paid")
    }
    const inRow = completed(row.session_id)
    const atOnce = completed(crowd.session_id)
    const answers: Array<Thing> = []
    for (let index = 0; index < 20; index++) answers.push(await desk.tell(inRow, index))
    // Two endpoints of one account, or somebody who sends it again by hand: another event, the same news.
    answers.push(await desk.tell({ ...inRow, id: `${inRow["id"]}again` }))
    answers.push(...(await Promise.all(Array.from({ length: 20 }, (_, index) => desk.tell(atOnce, index)))))
    await desk.applied()
    let credits = 0
    for (const { org, session_id, payment_id } of [row, crowd]) {
      const entries = await org.ledger()
      credits += entries.length
      expect(entries).toMatchObject([{ type: "topup", amount: "25.00", balance_after: "25.00", reference: session_id }])
      expect(await desk.payment(payment_id)).toMatchObject({ state: "paid", session_id })
    }
    expect([await desk.outcomes(inRow.id), await desk.outcomes(atOnce.id)]).toEqual([["credited"], ["credited"]])
    expect(answers.every(({ outcome }) => outcome === "stored")).toBe(true)
    figures("T41 webhook.duplicate", {
      backend,
      events: 2,
      deliveries: answers.length,
      credits,
      violations: credits - 2
    })
  })

  test("T43 webhook.two_events_one_payment: all orders of what is said of money that takes days", async () => {
    let credits = 0
    let told = 0
    let tried = 0
    const all: ReadonlyArray<readonly [string, (session_id: string) => void, string]> = [
      ["payment_intent.succeeded", desk.stripe.settleAsync, "checkout.session.async_payment_succeeded"],
      ["checkout.session.expired", desk.stripe.settleAsync, "checkout.session.async_payment_succeeded"],
      ["payment_intent.payment_failed", desk.stripe.failAsync, "checkout.session.async_payment_failed"]
    ]
    for (const [third, end, last] of all) {
      for (const order of orders(["checkout.session.completed", last, third])) {
        tried += 1
        const { org, session_id, payment_id } = await desk.buyer()
        const { payment_intent } = desk.stripe.pay(session_id, { async: true })
        end(session_id)
        const said = desk.about(payment_intent)
        const completed = said.find(({ type }) => type === "checkout.session.completed")
        expect(completed?.data.object.payment_status).toBe("unpaid")
        const expired: Thing = { ...completed, id: `${completed?.id}x`, type: "checkout.session.expired" }
        const paid = last === "checkout.session.async_payment_succeeded"
        for (const [index, type] of order.entries()) {
          // Everything twice: whoever delivers out of order delivers again, too.
          const event = [...said, expired].find((one) => one.type === type) ?? expect.unreachable(`no ${type}`)
          for (const again of [0, 1]) await desk.tell(event, index + again)
          told += 2
          await desk.applied(org)
          const known = paid && order.slice(0, index + 1).includes(last)
          expect([order, (await topups(org)).length]).toEqual([order, known ? 1 : 0])
        }
        credits += (await topups(org)).length
        expect(await desk.payment(payment_id)).toMatchObject({ state: paid ? "paid" : "failed" })
        expect((await org.wallet()).balance).toBe(paid ? "25.00" : "0.00")
      }
    }
    expect(credits).toBe(12)
    figures("T43 webhook.two_events_one_payment", {
      backend,
      orders: tried,
      deliveries: told,
      paid: 12,
      credits,
      violations: credits - 12
    })
  })

  /** Each with what is left of $25.00. */
  const backs: ReadonlyArray<readonly [string, string, (intent: string) => void]> = [
    ["a part is refunded", "20.00", (intent) => void desk.stripe.refund(intent, 500)],
    [
      "two parts are refunded",
      "12.50",
      (intent) => {
        desk.stripe.refund(intent, 500)
        desk.stripe.refund(intent, 750)
      }
    ],
    ["all is refunded", "0.00", (intent) => void desk.stripe.refund(intent)],
    ["a refund fails", "25.00", (intent) => desk.stripe.failRefund(desk.stripe.refund(intent))],
    [
      "a refund fails and a smaller one arrives",
      "20.00",
      (intent) => {
        desk.stripe.failRefund(desk.stripe.refund(intent, 1_000))
        desk.stripe.refund(intent, 500)
      }
    ],
    ["a dispute is lost", "0.00", (intent) => desk.stripe.closeDispute(desk.stripe.dispute(intent), "lost")],
    ["a dispute is won", "25.00", (intent) => desk.stripe.closeDispute(desk.stripe.dispute(intent), "won")],
    [
      "a bank only asked",
      "25.00",
      (intent) => desk.stripe.closeDispute(desk.stripe.dispute(intent, { inquiry: true }), "warning_closed")
    ],
    [
      "a bank asked first and took the money later",
      "0.00",
      (intent) => desk.stripe.escalate(desk.stripe.dispute(intent, { inquiry: true }))
    ],
    [
      "what was refunded is disputed as well",
      "0.00",
      (intent) => {
        desk.stripe.refund(intent)
        desk.stripe.closeDispute(desk.stripe.dispute(intent), "lost")
      }
    ],
    [
      "a part is refunded, and a dispute about all of it is won",
      "15.00",
      (intent) => {
        desk.stripe.refund(intent, 1_000)
        desk.stripe.closeDispute(desk.stripe.dispute(intent), "won")
      }
    ]
  ]

  test("an endpoint that hears of the charge only: each refund is asked for, also when the event comes again", async () => {
    const { org, intent } = await desk.paid()
    const refunded = () => {
      desk.stripe.refund(intent, 300)
      return desk.about(intent).findLast(({ type }) => type === "charge.refunded") ?? expect.unreachable("no refund")
    }
    refunded()
    const second = refunded()
    const balance = async () => {
      await desk.applied(org)
      return (await org.wallet()).balance
    }
    await desk.tell(second)
    expect(await balance()).toBe("19.00")
    // Two more, of which nothing is delivered; the event of before tells of them.
    refunded()
    refunded()
    await desk.tell(second, 1)
    expect(await balance()).toBe("13.00")
    await desk.tell(refunded())
    expect(await balance()).toBe("10.00")
  })

  test("refunds and disputes in every kind of order, also before the payment is known", async () => {
    const ways: ReadonlyArray<readonly [string, (events: ReadonlyArray<Thing>) => ReadonlyArray<Thing>]> = [
      ["as sent", (events) => events],
      ["backwards", (events) => events.toReversed()],
      ["twice, the second time backwards", (events) => [...events, ...events.toReversed()]],
      ["the oldest event last", (events) => [...events.slice(1), ...events.slice(0, 1)]]
    ]
    const cases = backs.flatMap((back) => ways.map((way) => [back, way] as const))
    await Promise.all(
      cases.map(async ([[what, left, happen], [way, arrange]]) => {
        const { org, session_id, payment_id } = await desk.buyer()
        const { payment_intent } = desk.stripe.pay(session_id)
        happen(payment_intent)
        await desk.tellAll(arrange(desk.about(payment_intent)))
        await desk.applied(org)
        const { balance } = await org.wallet()
        const state = await desk.payment(payment_id)
        const clawed_back = String(25_000_000 - 1_000_000 * Number(left))
        expect([what, way, balance, state]).toMatchObject([what, way, left, { state: "paid", clawed_back }])
        const entries = await org.ledger()
        expect(entries.filter(({ type }) => type === "topup")).toHaveLength(1)
        expect(new Set(entries.map(({ reference }) => reference)).size).toBe(entries.length)
      })
    )
    figures("refunds and disputes", { backend, cases: backs.length, orders: ways.length })
  })
})
