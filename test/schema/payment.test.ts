/**
 * A payment's facts in every order and with every repetition: the same money, the same state, and entries that name each movement once.
 *
 * What must come out is computed from the set of facts alone, so an implementation that remembered their order could not agree with it.
 */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { dollars, MicroUsd, min, negate, ofCents, sum, zero } from "../../src/schema/money/Money.ts"
import { decidePayment, type DepositBonus, type Payment, type PaymentBook } from "../../src/schema/wallet/Payment.ts"
import { type PaymentFact, type Standing, standings } from "../../src/schema/wallet/PaymentFact.ts"
import { effectOf, type Entry, type Wallet } from "../../src/schema/wallet/Wallet.ts"

const wallet: Wallet = {
  org_id: "org_a",
  balance: dollars("3.00"),
  reserved: dollars("1.00"),
  allowances_held: zero,
  entry_seq: 7n,
  per_run_limit: null,
  daily_limit: null,
  spent_day: "2026-11-21",
  spent: zero
}
const payment = (payment_id: string, kind: "checkout" | "auto", amount: MicroUsd): Payment => ({
  payment_id,
  org_id: wallet.org_id,
  kind,
  amount,
  state: "open",
  session_id: kind === "auto" ? null : `cs_of_${payment_id}`,
  payment_intent: null,
  card: null,
  clawed_back: zero,
  failure: null
})
const welcome: DepositBonus = {
  referral_id: "ref_a",
  deposit_min: dollars("20.00"),
  deposit_bonus: dollars("5.00"),
  state: "pending",
  payment_id: null,
  card: null,
  changes: 0
}

interface About {
  readonly payment: Payment
  readonly fact: PaymentFact
}
/** What a set of facts must come to, whatever their order. */
interface Expected {
  readonly paid: boolean
  readonly state: Payment["state"]
  readonly clawed: MicroUsd
}

const cents = (least: number, most: number) => fc.integer({ min: least, max: most }).map(ofCents)

interface Drawn {
  readonly id: string
  readonly kind: "refund" | "dispute"
  readonly amount: MicroUsd
  readonly seen: ReadonlyArray<Standing>
}

/** A payment and every fact about it, each once. */
const story = (payment_id: string) =>
  fc
    .record({
      kind: fc.constantFrom("checkout", "auto"),
      amount: cents(1_000, 6_000),
      attached: fc.boolean(),
      paid: fc.boolean(),
      charge: fc.boolean(),
      failed: fc.boolean(),
      declined: fc.boolean(),
      expired: fc.boolean(),
      wrong: fc.subarray(["amount", "currency", "session"]),
      back: fc.array(
        fc.record({
          kind: fc.constantFrom("refund", "dispute"),
          amount: cents(1, 7_000),
          seen: fc.subarray([...standings], { minLength: 1 })
        }),
        { maxLength: 4 }
      )
    })
    .map((drawn) => {
      const { kind, amount, attached } = drawn
      const known = payment(payment_id, kind, amount)
      const session_id = kind === "auto" ? null : `cs_of_${payment_id}`
      const intent = `pi_of_${payment_id}`
      const right = {
        _tag: "Paid",
        session_id,
        payment_intent: intent,
        customer: "cus_a",
        amount,
        currency: "usd"
      } as const
      const back = drawn.back.map((one, index): Drawn => ({ ...one, id: `${payment_id}_back_${index}` }))
      const facts: ReadonlyArray<PaymentFact> = [
        ...(drawn.paid ? [right] : []),
        // The charge behind a checkout: true, and no reason to credit anything.
        ...(drawn.charge && kind === "checkout" ? [{ ...right, session_id: null }] : []),
        ...(drawn.wrong.includes("amount") ? [{ ...right, amount: MicroUsd(amount + 10_000n) }] : []),
        ...(drawn.wrong.includes("currency") ? [{ ...right, currency: "eur" }] : []),
        // Only where the session is known: before, the metadata of a signed event is all there is.
        ...(drawn.wrong.includes("session") && kind === "checkout" && attached
          ? [{ ...right, session_id: "cs_of_another" }]
          : []),
        ...(drawn.failed ? [{ _tag: "Failed", session_id, reason: "no money" } as const] : []),
        ...(drawn.declined && kind === "checkout"
          ? [{ _tag: "Failed", session_id: null, reason: "declined" } as const]
          : []),
        ...(drawn.expired ? [{ _tag: "Expired", session_id: session_id ?? "" } as const] : []),
        ...back.flatMap((one) =>
          one.seen.map((standing): PaymentFact => {
            const { id: reversal_id, kind, amount } = one
            return { _tag: "Reversed", reversal_id, payment_intent: null, kind, amount, standing }
          })
        )
      ]
      const taken = back.filter((one) => one.seen.includes("taken") && !one.seen.includes("returned"))
      const state = drawn.paid
        ? "paid"
        : drawn.failed
          ? "failed"
          : drawn.expired && kind === "checkout"
            ? "expired"
            : "open"
      const expected: Expected = {
        paid: drawn.paid,
        state,
        clawed: drawn.paid ? min(amount, sum(taken.map((one) => one.amount))) : zero
      }
      const start: Payment = attached ? known : { ...known, session_id: null }
      return { start, facts: facts.map((fact): About => ({ payment: start, fact })), expected }
    })

/** Every fact at least once, some again, in any order. */
const told = (facts: ReadonlyArray<About>) =>
  fc
    .tuple(
      facts.length === 0 ? fc.constant([]) : fc.array(fc.constantFrom(...facts), { maxLength: 8 }),
      fc.infiniteStream(fc.nat())
    )
    .map(([again, keys]) =>
      [...facts, ...again]
        .map((about) => ({ about, key: Number(keys.next().value) }))
        .sort((a, b) => a.key - b.key)
        .map(({ about }) => about)
    )

const kindOf = (entry: Entry) =>
  entry.type === "topup" ? "topup" : entry.reference.startsWith(welcome.referral_id) ? "bonus" : "clawback"
const total = (entries: ReadonlyArray<Entry>, kind: string) =>
  sum(entries.filter((entry) => kindOf(entry) === kind).map((entry) => entry.amount))

/** Applies facts one by one, and checks after each what must hold at any time. */
const live = (bonus: DepositBonus | null, telling: ReadonlyArray<About>) => {
  const books = new Map<string, PaymentBook>()
  const entries: Array<Entry> = []
  let now = wallet
  let standing = bonus
  for (const { payment: start, fact } of telling) {
    const before = books.get(start.payment_id) ?? {
      payment: start,
      reversals: [],
      bonus: null,
      card_taken: false,
      auto: null
    }
    const decided = decidePayment(now, { ...before, bonus: standing }, fact, 0n)
    const { payment: after } = decided.book
    if (before.payment.state === "paid") {
      const { session_id, payment_intent } = before.payment
      expect(after).toMatchObject({ state: "paid", session_id, payment_intent })
    }
    expect(after.clawed_back >= zero && after.clawed_back <= after.amount).toBe(true)
    if (["ignored", "mismatch", "repeated"].includes(decided.outcome)) expect(after).toBe(before.payment)
    if (decided.outcome === "credited") expect(total(decided.entries, "topup")).toBe(after.amount)
    else expect(total(decided.entries, "topup")).toBe(zero)
    now = decided.wallet
    standing = decided.book.bonus
    entries.push(...decided.entries)
    expect([zero, welcome.deposit_bonus]).toContain(total(entries, "bonus"))
    books.set(start.payment_id, decided.book)
  }
  // The wallet is the fold of its entries, and no movement has the name of another.
  let { balance, reserved, entry_seq } = wallet
  for (const entry of entries) {
    const effect = effectOf(entry.type, entry.amount)
    balance = MicroUsd(balance + effect.balance)
    reserved = MicroUsd(reserved + effect.reserved)
    entry_seq += 1n
    expect(entry).toMatchObject({ seq: entry_seq, balance_after: balance, reserved_after: reserved })
    expect(entry.amount).not.toBe(zero)
  }
  expect(now).toEqual({ ...wallet, balance, reserved, entry_seq })
  expect(new Set(entries.map(({ type, reference }) => `${type} ${reference}`)).size).toBe(entries.length)
  const state = (start: Payment) => books.get(start.payment_id)?.payment ?? start
  return {
    state,
    bonus: standing,
    balance,
    topup: total(entries, "topup"),
    clawback: total(entries, "clawback"),
    bonuses: total(entries, "bonus"),
    grants: entries.filter((entry) => entry.type === "bonus").length
  }
}

describe("facts about a payment, in any order and any number of times", () => {
  test("come to what the set of them says: money, state, clawback and deposit bonus", () => {
    const told2 = story("pay_a").chain((drawn) => fc.tuple(fc.constant(drawn), told(drawn.facts)))
    fc.assert(
      fc.property(told2, fc.boolean(), ([{ start, expected }, telling], referred) => {
        const lived = live(referred ? welcome : null, telling)
        const { state, clawed_back } = lived.state(start)
        expect({ state, clawed_back }).toEqual({ state: expected.state, clawed_back: expected.clawed })
        expect(lived.topup).toBe(expected.paid ? start.amount : zero)
        expect(lived.clawback).toBe(negate(expected.clawed))
        const earned = referred && expected.paid && start.amount - expected.clawed >= welcome.deposit_min
        expect(lived.bonuses).toBe(earned ? welcome.deposit_bonus : zero)
        expect(lived.bonus?.state === "granted").toBe(earned)
        expect(lived.grants).toBeLessThanOrEqual(1)
      }),
      { numRuns: 2_000 }
    )
  })

  test("about two payments of one wallet never disturb each other, and earn one bonus between them", () => {
    const both = fc
      .tuple(story("pay_a"), story("pay_b"))
      .chain(([a, b]) => fc.tuple(fc.constant([a, b]), told([...a.facts, ...b.facts])))
    fc.assert(
      fc.property(both, ([stories, telling]) => {
        const lived = live(welcome, telling)
        for (const { start, expected } of stories) {
          const { state, clawed_back } = lived.state(start)
          expect({ state, clawed_back }).toEqual({ state: expected.state, clawed_back: expected.clawed })
        }
        const paid = stories.filter(({ expected }) => expected.paid)
        expect(lived.topup).toBe(sum(paid.map(({ start }) => start.amount)))
        expect(lived.clawback).toBe(negate(sum(stories.map(({ expected }) => expected.clawed))))
        expect(lived.grants).toBeLessThanOrEqual(1)
        // Whoever has the bonus now has a deposit that is large enough for it.
        if (lived.bonuses > zero) {
          const owner = stories.find(({ start }) => start.payment_id === lived.bonus?.payment_id)
          expect(owner !== undefined && owner.start.amount - owner.expected.clawed >= welcome.deposit_min).toBe(true)
        }
      }),
      { numRuns: 1_000 }
    )
  })
})

const paid = (start: Payment, more: Partial<Extract<PaymentFact, { _tag: "Paid" }>> = {}): About => ({
  payment: start,
  fact: {
    _tag: "Paid",
    session_id: start.session_id,
    payment_intent: "pi_a",
    customer: "cus_a",
    amount: start.amount,
    currency: "usd",
    ...more
  }
})
const back = (start: Payment, reversal_id: string, amount: string, standing: Standing, kind = "refund"): About => ({
  payment: start,
  fact: {
    _tag: "Reversed",
    reversal_id,
    payment_intent: null,
    kind: kind === "refund" ? "refund" : "dispute",
    amount: dollars(amount),
    standing
  }
})

describe("the deposit bonus", () => {
  const deposit = payment("pay_a", "checkout", dollars("25.00"))
  const notes = (telling: ReadonlyArray<About>) => {
    const { bonuses, bonus } = live(welcome, telling)
    return [bonuses, bonus?.state, bonus?.changes]
  }
  const five = dollars("5.00")
  test("falls with a refund that leaves too little, and stands with one that doesn't", () => {
    expect(notes([paid(deposit), back(deposit, "re_1", "5.00", "taken")])).toEqual([five, "granted", 0])
    expect(notes([paid(deposit), back(deposit, "re_1", "5.01", "taken")])).toEqual([zero, "revoked", 1])
  })
  test("is given, taken and given again with a dispute, each time by its own name", () => {
    const dispute = (standing: Standing) => back(deposit, "dp_1", "25.00", standing, "dispute")
    expect(notes([paid(deposit), dispute("noticed")])).toEqual([five, "granted", 0])
    expect(notes([paid(deposit), dispute("noticed"), dispute("taken")])).toEqual([zero, "revoked", 1])
    expect(notes([paid(deposit), dispute("taken"), dispute("returned")])).toEqual([five, "granted", 2])
  })
  test("of nothing makes no entry and uses up no card, and one of a microdollar does both", () => {
    const entriesOf = (deposit_bonus: MicroUsd) => {
      const book = {
        payment: deposit,
        reversals: [],
        bonus: { ...welcome, deposit_bonus },
        card_taken: false,
        auto: null
      }
      const paying = decidePayment(wallet, book, paid(deposit, { card: "card_a" }).fact, 0n)
      const refund = decidePayment(paying.wallet, paying.book, back(deposit, "re_1", "5.01", "taken").fact, 0n)
      expect([paying.book.bonus?.state, refund.book.bonus?.state]).toEqual(["granted", "revoked"])
      const amounts = [...paying.entries, ...refund.entries].map((entry) => entry.amount)
      return { card: paying.book.bonus?.card, amounts }
    }
    const moved = [deposit.amount, negate(dollars("5.01"))] as const
    expect(entriesOf(zero)).toEqual({ card: null, amounts: [...moved] })
    const one = MicroUsd(1n)
    expect(entriesOf(one)).toEqual({ card: "card_a", amounts: [moved[0], one, moved[1], negate(one)] })
  })
  test("is not given for a card that has earned one elsewhere", () => {
    const book = { payment: deposit, reversals: [], bonus: welcome, card_taken: true, auto: null }
    const { book: after, entries } = decidePayment(wallet, book, paid(deposit, { card: "card_a" }).fact, 0n)
    expect([after.bonus, entries.length]).toEqual([welcome, 1])
  })
  test("needs a deposit that is large enough by itself", () => {
    const small = payment("pay_b", "checkout", dollars("19.99"))
    expect(notes([paid(small), paid(payment("pay_c", "checkout", dollars("19.99")))])).toEqual([zero, "pending", 0])
  })
})

test("a charge of a saved method needs no session, and a payment that failed may still arrive", () => {
  const charge = payment("pay_a", "auto", dollars("10.00"))
  const failed: About = { payment: charge, fact: { _tag: "Failed", session_id: null, reason: "declined" } }
  expect(live(null, [failed]).state(charge)).toMatchObject({ state: "failed", failure: "declined" })
  expect(live(null, [failed, paid(charge)]).state(charge)).toMatchObject({
    state: "paid",
    payment_intent: "pi_a",
    failure: null
  })
  expect(live(null, [paid(charge), failed]).topup).toBe(charge.amount)
})

test("a full refund and a dispute of the same payment take it once, and what comes back is what is still short", () => {
  const start = payment("pay_a", "checkout", dollars("25.00"))
  const refund = back(start, "re_1", "25.00", "taken")
  const dispute = (standing: Standing) => back(start, "dp_1", "25.00", standing, "dispute")
  for (const more of [[], [dispute("returned")]]) {
    expect(live(null, [paid(start), refund, dispute("taken"), ...more]).clawback).toBe(negate(start.amount))
  }
})

test("what a second charge of the same payment gives back was never credited, so it is not taken", () => {
  const start = payment("pay_a", "checkout", dollars("25.00"))
  const of = (payment_intent: string): About => {
    const about = back(start, `re_of_${payment_intent}`, "25.00", "taken")
    return about.fact._tag === "Reversed" ? { ...about, fact: { ...about.fact, payment_intent } } : about
  }
  const clawed = (telling: ReadonlyArray<About>) => live(null, telling).state(start).clawed_back
  expect(clawed([paid(start), of("pi_second")])).toBe(zero)
  expect(clawed([of("pi_second"), paid(start)])).toBe(zero)
  expect(clawed([of("pi_second"), paid(start), of("pi_a")])).toBe(dollars("25.00"))
  expect(clawed([of("pi_a"), paid(start), of("pi_second")])).toBe(dollars("25.00"))
})

test.each([
  ["refund", "refund of a top-up"],
  ["dispute", "disputed top-up"]
])("a %s that is taken and returned makes two entries that say so, and none when it is repeated", (kind, what) => {
  const start = payment("pay_a", "checkout", dollars("25.00"))
  const fact = (standing: Standing) => back(start, "re_1", "10.00", standing, kind)
  const steps = [paid(start), fact("taken"), fact("taken"), fact("returned"), fact("returned")]
  let book: PaymentBook = { payment: start, reversals: [], bonus: null, card_taken: false, auto: null }
  const outcomes = []
  const entries: Array<Entry> = []
  for (const step of steps) {
    const decided = decidePayment(wallet, book, step.fact, 0n)
    book = decided.book
    outcomes.push(decided.outcome)
    entries.push(...decided.entries)
  }
  expect(outcomes).toEqual(["credited", "applied", "repeated", "applied", "repeated"])
  expect(entries.slice(1).map(({ amount, reference, note }) => ({ amount, reference, note }))).toEqual([
    { amount: negate(dollars("10.00")), reference: "re_1", note: what },
    { amount: dollars("10.00"), reference: "re_1:returned", note: `${what}: returned` }
  ])
})
