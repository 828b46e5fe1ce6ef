/** Payments during a turn: each event is applied once, a card earns one bonus, and only a paid checkout saves a card. */
import { describe, expect, test } from "bun:test"
import { noPayments, type PaymentView } from "../../../src/layers/ledger/PaymentTurn.ts"
import { dollars, zero } from "../../../src/schema/money/Money.ts"
import type { DepositBonus, Payment, Reversal } from "../../../src/schema/wallet/Payment.ts"
import type { PaymentFact } from "../../../src/schema/wallet/PaymentFact.ts"
import { booked, org_id, pay, turnOf, walletWith } from "../../kit/turn-view.ts"

/** An open checkout of $20.00. */
const paymentOf = (payment_id: string, changed: Partial<Payment> = {}): Payment => ({
  ...{ payment_id, org_id, kind: "checkout", amount: dollars("20.00"), state: "open", session_id: null },
  ...{ payment_intent: null, card: null, clawed_back: zero, failure: null },
  ...changed
})
const paidPayment = (payment_id: string, changed: Partial<Payment> = {}): Payment =>
  paymentOf(payment_id, { state: "paid", session_id: "cs_a", payment_intent: "pi_a", ...changed })

type Paid = Extract<PaymentFact, { _tag: "Paid" }>
const paid = (changed: Partial<Paid> = {}): Paid => ({
  ...{ _tag: "Paid", session_id: "cs_a", payment_intent: "pi_a", customer: "cus_a", card: "card_a" },
  ...{ amount: dollars("20.00"), currency: "usd" },
  ...changed
})
type Reversed = Extract<PaymentFact, { _tag: "Reversed" }>
const refunded = (reversal_id: string, amount: string, changed: Partial<Reversed> = {}): Reversed => ({
  ...{
    _tag: "Reversed",
    reversal_id,
    payment_intent: null,
    kind: "refund",
    amount: dollars(amount),
    standing: "taken"
  },
  ...changed
})
const takenBack = (reversal_id: string, payment_id: string, amount: string): Reversal => ({
  ...{ reversal_id, payment_id, payment_intent: null, kind: "refund", amount: dollars(amount), standing: "taken" }
})
const bonusOf = (changed: Partial<DepositBonus> = {}): DepositBonus => ({
  ...{ referral_id: "ref_a", deposit_min: dollars("10.00"), deposit_bonus: dollars("5.00"), state: "pending" },
  ...{ payment_id: null, card: null, changes: 0 },
  ...changed
})

interface Known extends Partial<Omit<PaymentView, "payments" | "bonuses">> {
  readonly bonuses?: Readonly<Record<string, DepositBonus>>
}
const rows = (payments: ReadonlyArray<Payment>, { bonuses = {}, ...others }: Known = {}) => ({
  payments: {
    ...{ ...noPayments, payments: new Map(payments.map((one) => [one.payment_id, one])) },
    ...{ bonuses: new Map(Object.entries(bonuses)), ...others }
  }
})
const reply = { command_id: "cmd_a" }

describe("a checkout that is paid", () => {
  test("is credited, and saves its card for automatic top-ups", () => {
    const { effects, replyTo, answer } = turnOf([pay("pay_a", "evt_a", paid(), reply)], rows([paymentOf("pay_a")]))
    expect(booked(effects)).toEqual(["topup 20.00"])
    expect(effects.wallets).toEqual([walletWith("30.00", { entry_seq: 1n })])
    expect(replyTo("cmd_a")).toEqual({ verdict: "credited", transaction_id: "txn_1" })
    expect(effects.payments).toEqual({
      payments: [paidPayment("pay_a", { card: "card_a" })],
      ...{ reversals: [], bonuses: [], autos: [], charges: [] },
      events: [{ event_id: "evt_a", payment_id: "pay_a", org_id, fact: "Paid", outcome: "credited" }],
      methods: [{ org_id, customer: "cus_a", payment_intent: "pi_a" }]
    })
    expect(answer.mismatches).toEqual([])
  })

  const unsaved: ReadonlyArray<readonly [string, Partial<Payment>, Partial<Paid>]> = [
    ["if the processor saved none", {}, { customer: null }],
    ["without the id of the charge", {}, { payment_intent: null }],
    ["if it was an automatic charge, which used the saved one", { kind: "auto" }, {}]
  ]
  test.each(unsaved)("saves no card %s", (_, payment, fact) => {
    const { effects } = turnOf([pay("pay_a", "evt_a", paid(fact))], rows([paymentOf("pay_a", payment)]))
    expect(booked(effects)).toEqual(["topup 20.00"])
    expect(effects.payments.methods).toEqual([])
  })

  test("is credited less what was refunded before, and of its own refunds only", () => {
    const reversals = [takenBack("re_a", "pay_a", "3.00"), takenBack("re_b", "pay_b", "4.00")]
    const { effects } = turnOf([pay("pay_a", "evt_a", paid())], rows([paymentOf("pay_a")], { reversals }))
    expect(booked(effects)).toEqual(["topup 20.00", "refund -3.00"])
    expect(effects.payments.payments).toMatchObject([{ state: "paid", clawed_back: dollars("3.00") }])
    expect(effects.payments.reversals).toEqual([])
  })

  test("with another amount is reported, and neither credited nor used to save a card", () => {
    const wrong = paid({ amount: dollars("2.00"), customer: "cus_b" })
    const { effects, answer, replyTo } = turnOf(
      [pay("pay_a", "evt_a", wrong, reply)],
      rows([paymentOf("pay_a", { payment_intent: "pi_a" })])
    )
    expect(answer.mismatches).toEqual([`evt_a does not fit pay_a of ${org_id}`])
    expect(replyTo("cmd_a")).toEqual({ verdict: "mismatch", transaction_id: null })
    expect([effects.entries, effects.payments.payments, effects.payments.methods]).toEqual([[], [], []])
    expect(effects.payments.events).toMatchObject([{ outcome: "mismatch" }])
  })
})

describe("an event", () => {
  test("that was applied in an earlier turn changes nothing", () => {
    const known = rows([paymentOf("pay_a")], { seen: new Set(["evt_a"]) })
    const { effects, replyTo } = turnOf([pay("pay_a", "evt_a", paid(), reply)], known)
    expect(replyTo("cmd_a")).toEqual({ verdict: "repeated", transaction_id: null })
    expect([effects.entries, effects.payments.events, effects.payments.payments]).toEqual([[], [], []])
    // Written, so that the turn is undone if another one has changed the wallet meanwhile.
    expect(effects.wallets).toEqual([walletWith("10.00")])
  })

  test("that arrives twice in a turn is applied once", () => {
    const mail = [
      pay("pay_a", "evt_a", refunded("re_a", "5.00")),
      pay("pay_a", "evt_a", refunded("re_b", "7.00"), reply)
    ]
    const { effects, replyTo } = turnOf(mail, rows([paidPayment("pay_a")]))
    expect(booked(effects)).toEqual(["refund -5.00"])
    expect(replyTo("cmd_a")).toEqual({ verdict: "repeated", transaction_id: null })
    expect(effects.payments.events).toHaveLength(1)
  })

  test("that says again what another one said in the turn is not credited again, and saves no other card", () => {
    const mail = [pay("pay_a", "evt_a", paid()), pay("pay_a", "evt_b", paid({ customer: "cus_b" }), reply)]
    const { effects, replyTo } = turnOf(mail, rows([paymentOf("pay_a")]))
    expect(booked(effects)).toEqual(["topup 20.00"])
    expect(replyTo("cmd_a")).toEqual({ verdict: "repeated", transaction_id: null })
    expect(effects.payments.methods).toEqual([{ org_id, customer: "cus_a", payment_intent: "pi_a" }])
  })

  const foreign: ReadonlyArray<readonly [string, ReadonlyArray<Payment>]> = [
    ["a payment that does not exist", []],
    ["another organization's payment", [paymentOf("pay_a", { org_id: "org_b" })]]
  ]
  test.each(foreign)("about %s changes nothing", (_, payments) => {
    const { effects, replyTo } = turnOf([pay("pay_a", "evt_a", paid(), reply)], rows(payments))
    expect(replyTo("cmd_a")).toEqual({ verdict: "repeated", transaction_id: null })
    expect([effects.entries, effects.payments.payments, effects.payments.events]).toEqual([[], [], []])
  })

  test("that changes nothing writes no payment, and is kept with its outcome", () => {
    const known = rows([paidPayment("pay_a")])
    const { effects } = turnOf([pay("pay_a", "evt_a", { _tag: "Expired", session_id: "cs_a" })], known)
    expect(effects.payments.payments).toEqual([])
    expect(effects.payments.events).toMatchObject([{ event_id: "evt_a", fact: "Expired", outcome: "ignored" }])
  })
})

describe("a refund", () => {
  test("is written alone, beside those that were known, and takes back their sum", () => {
    const known = takenBack("re_a", "pay_a", "3.00")
    const payment = paidPayment("pay_a", { clawed_back: dollars("3.00") })
    const { effects } = turnOf(
      [pay("pay_a", "evt_a", refunded("re_b", "4.00"))],
      rows([payment], { reversals: [known] })
    )
    expect(booked(effects)).toEqual(["refund -4.00"])
    expect(effects.payments.reversals).toEqual([takenBack("re_b", "pay_a", "4.00")])
    expect(effects.payments.payments).toMatchObject([{ clawed_back: dollars("7.00") }])
  })

  test("that two events of a turn report is taken back once", () => {
    const mail = [
      pay("pay_a", "evt_a", refunded("re_a", "4.00")),
      pay("pay_a", "evt_b", refunded("re_a", "4.00"), reply)
    ]
    const { effects, replyTo } = turnOf(mail, rows([paidPayment("pay_a")]))
    expect(booked(effects)).toEqual(["refund -4.00"])
    expect(replyTo("cmd_a")).toEqual({ verdict: "repeated", transaction_id: null })
  })

  test("adds to another one of the turn", () => {
    const mail = [pay("pay_a", "evt_a", refunded("re_a", "4.00")), pay("pay_a", "evt_b", refunded("re_b", "5.00"))]
    const { effects } = turnOf(mail, rows([paidPayment("pay_a")]))
    expect(booked(effects)).toEqual(["refund -4.00", "refund -5.00"])
    expect(effects.payments.payments).toMatchObject([{ clawed_back: dollars("9.00") }])
  })
})

describe("the welcome bonus of a referral", () => {
  const own = { bonuses: { [org_id]: bonusOf() } }

  test("is granted with the first deposit, once, and keeps its card", () => {
    const mail = [pay("pay_a", "evt_a", paid(), reply), pay("pay_b", "evt_b", paid({ card: "card_b" }))]
    const { effects, replyTo } = turnOf(mail, rows([paymentOf("pay_a"), paymentOf("pay_b")], own))
    expect(booked(effects)).toEqual(["topup 20.00", "bonus 5.00", "topup 20.00"])
    expect(effects.payments.bonuses).toEqual([bonusOf({ state: "granted", payment_id: "pay_a", card: "card_a" })])
    expect(replyTo("cmd_a")).toEqual({ verdict: "credited", transaction_id: "txn_1" })
  })

  test("is granted for a deposit whose card is not known", () => {
    const { effects } = turnOf([pay("pay_a", "evt_a", paid({ card: null }))], rows([paymentOf("pay_a")], own))
    expect(booked(effects)).toEqual(["topup 20.00", "bonus 5.00"])
  })

  test("is not granted for a card that has earned one, and is not written then", () => {
    const known = rows([paymentOf("pay_a")], { ...own, cards: new Set(["card_a"]) })
    const { effects } = turnOf([pay("pay_a", "evt_a", paid())], known)
    expect(booked(effects)).toEqual(["topup 20.00"])
    expect(effects.payments.bonuses).toEqual([])
    const another = turnOf([pay("pay_a", "evt_a", paid({ card: "card_b" }))], known)
    expect(booked(another.effects)).toEqual(["topup 20.00", "bonus 5.00"])
  })

  test("is granted to one of two organizations that pay with the same card in one turn", () => {
    const other = paymentOf("pay_b", { org_id: "org_b" })
    const { effects } = turnOf([pay("pay_a", "evt_a", paid()), pay("pay_b", "evt_b", paid(), { org_id: "org_b" })], {
      wallets: [walletWith("0.00"), walletWith("0.00", { org_id: "org_b" })],
      ...rows([paymentOf("pay_a"), other], {
        bonuses: { [org_id]: bonusOf(), org_b: bonusOf({ referral_id: "ref_b" }) }
      })
    })
    expect(booked(effects)).toEqual(["topup 20.00", "bonus 5.00", "topup 20.00"])
    expect(effects.payments.bonuses).toMatchObject([{ referral_id: "ref_a" }])
  })

  test("is not granted later either for a card that has earned one: when a refund of the deposit comes back", () => {
    const reversals = [takenBack("re_a", "pay_a", "20.00")]
    const payment = paidPayment("pay_a", { card: "card_a", clawed_back: dollars("20.00") })
    const mail = [pay("pay_a", "evt_a", refunded("re_a", "20.00", { standing: "returned" }))]
    const taken = turnOf(mail, rows([payment], { ...own, reversals, cards: new Set(["card_a"]) }))
    expect(booked(taken.effects)).toEqual(["refund 20.00"])
    const free = turnOf(mail, rows([payment], { ...own, reversals }))
    expect(booked(free.effects)).toEqual(["refund 20.00", "bonus 5.00"])
  })

  test("goes back with its deposit", () => {
    const granted = bonusOf({ state: "granted", payment_id: "pay_a", card: "card_a" })
    const { effects } = turnOf(
      [pay("pay_a", "evt_a", refunded("re_a", "20.00"))],
      rows([paidPayment("pay_a", { card: "card_a" })], { bonuses: { [org_id]: granted } })
    )
    expect(booked(effects)).toEqual(["refund -20.00", "refund -5.00"])
    expect(effects.payments.bonuses).toEqual([{ ...granted, state: "revoked", changes: 1 }])
  })
})
