/**
 * A group of people who work together against the operator: they sign up with each other's codes, deposit, run, and have deposits taken back, in
 * any order. Bonuses and shares never exceed what the platform keeps of their runs.
 */
import { expect, test } from "bun:test"
import fc from "fast-check"
import { dollars, max, MicroUsd, ofCents, zero } from "../../src/schema/money/Money.ts"
import { decidePayment, type DepositBonus, type Payment, type PaymentBook } from "../../src/schema/wallet/Payment.ts"
import type { PaymentFact } from "../../src/schema/wallet/PaymentFact.ts"
import { bonusMax, due, earned, netRevenue, unpaidOf } from "../../src/schema/wallet/Referral.ts"
import { available, decide, type WalletRun, type Wallet } from "../../src/schema/wallet/Wallet.ts"
import { settingsOf } from "../../src/layers/platform/Settings.ts"
import { Effect } from "effect"

const day = "2026-11-21"

interface Member {
  wallet: Wallet
  readonly referrer: Member | null
  bonus: DepositBonus | null
  given: bigint
  net_revenue: MicroUsd
  credited: MicroUsd
  readonly books: Array<PaymentBook>
}

interface Terms {
  readonly deposit_min: MicroUsd
  readonly deposit_bonus: MicroUsd
  readonly share_bps: number
}

class Group {
  readonly members: Array<Member> = []
  readonly cards = new Set<string>()
  runs = 0n
  private names = 0
  readonly terms: Terms
  constructor(terms: Terms) {
    this.terms = terms
  }

  join(by: number | null) {
    const org_id = `org_${this.members.length}`
    const { deposit_min, deposit_bonus } = this.terms
    const referrer = by === null || this.members.length === 0 ? null : this.members[by % this.members.length]!
    const limits = { per_run_limit: null, daily_limit: null, spent_day: day, spent: zero }
    this.members.push({
      wallet: { org_id, balance: zero, reserved: zero, allowances_held: zero, entry_seq: 0n, ...limits },
      referrer,
      bonus:
        referrer === null
          ? null
          : {
              ...{ referral_id: `ref_${org_id}`, deposit_min, deposit_bonus },
              ...{ state: "pending", payment_id: null, card: null, changes: 0 }
            },
      given: 0n,
      net_revenue: zero,
      credited: zero,
      books: []
    })
  }

  tell(member: Member, at: number, fact: PaymentFact) {
    const before = member.books[at]!
    const card = before.payment.card ?? (fact._tag === "Paid" ? (fact.card ?? null) : null)
    const card_taken = card !== null && this.cards.has(card)
    const decided = decidePayment(member.wallet, { ...before, bonus: member.bonus, card_taken }, fact, 0n)
    for (const entry of decided.entries) if (entry.reference.startsWith("ref_")) member.given += entry.amount
    const earnedBy = decided.book.bonus?.card ?? null
    if (earnedBy !== null) this.cards.add(earnedBy)
    Object.assign(member, { wallet: decided.wallet, bonus: decided.book.bonus })
    member.books[at] = decided.book
  }

  deposit(member: Member, amount: MicroUsd, card: string | null) {
    const payment_id = `pay_${++this.names}`
    const session_id = `cs_${payment_id}`
    const payment_intent = `pi_${payment_id}`
    const payment: Payment = {
      ...{ payment_id, org_id: member.wallet.org_id, kind: "checkout", amount, state: "open", session_id },
      ...{ payment_intent: null, card: null, clawed_back: zero, failure: null }
    }
    member.books.push({ payment, reversals: [], bonus: null, card_taken: false, auto: null })
    const paid = { session_id, payment_intent, customer: null, card, amount, currency: "usd" }
    this.tell(member, member.books.length - 1, { _tag: "Paid", ...paid })
  }

  back(member: Member, at: number, amount: MicroUsd, returns: boolean) {
    if (member.books.length === 0) return
    const one = { _tag: "Reversed", reversal_id: `re_${++this.names}`, payment_intent: null, kind: "refund" } as const
    this.tell(member, at % member.books.length, { ...one, amount, standing: "taken" })
    if (returns) this.tell(member, at % member.books.length, { ...one, amount, standing: "returned" })
  }

  run(member: Member, charge: MicroUsd) {
    const run: WalletRun = { run_id: `run_${++this.names}`, status: "created", hold: charge, lease_token: "t" }
    const held = decide(member.wallet, run, { _tag: "Reserve" }, day)
    if (held.verdict._tag !== "Admitted") return
    const settle = { _tag: "Settle", lease_token: "t", status: "succeeded", charge } as const
    member.wallet = decide(held.wallet, { ...run, status: "running" }, settle, day).wallet
    member.net_revenue = MicroUsd(member.net_revenue + netRevenue(charge, null))
    this.runs += 1n
  }

  /** Counts all shares; true while some were credited. */
  accrue() {
    let any = false
    for (const member of this.members) {
      if (member.referrer === null) continue
      const { net_revenue, wallet } = member
      const { share_bps } = this.terms
      const amount = due(earned({ share_bps, net_revenue, unpaid: unpaidOf(wallet.balance) }), member.credited)
      if (amount === 0n) continue
      any = true
      member.credited = MicroUsd(member.credited + amount)
      const credit = { _tag: "Credit", type: "bonus", amount, reference: `share:${++this.names}`, note: "" } as const
      member.referrer.wallet = decide(member.referrer.wallet, null, credit, day).wallet
    }
    return any
  }

  sum(of: (member: Member) => bigint) {
    return this.members.reduce((total, member) => total + of(member), 0n)
  }
  given() {
    return this.sum((member) => member.given + member.credited)
  }
  kept() {
    // Each run's cost is rounded up to a microdollar.
    return this.sum((member) => member.net_revenue) + this.runs
  }
}

const cents = (least: number, most: number) => fc.integer({ min: least, max: most }).map(ofCents)
const terms = fc
  .record({ deposit_min: cents(0, 10_000), share_bps: fc.integer({ min: 0, max: 10_000 }), part: fc.nat(100) })
  .map(({ deposit_min, share_bps, part }) => {
    const deposit_bonus = MicroUsd((bonusMax(deposit_min, share_bps) * BigInt(part)) / 100n)
    return { deposit_min, share_bps, deposit_bonus }
  })
type Op = (group: Group) => unknown
const who = fc.nat(9)
const of = (group: Group, at: number) => group.members[at % group.members.length]!
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.option(who, { nil: null }).map(
    (by): Op =>
      (group) =>
        group.join(by)
  ),
  fc.tuple(who, cents(100, 12_000), fc.option(fc.nat(5), { nil: null })).map(
    ([at, amount, card]): Op =>
      (group) =>
        group.deposit(of(group, at), amount, card === null ? null : `card_${card}`)
  ),
  fc.tuple(who, fc.bigInt({ min: 1n, max: 30_000_000n })).map(
    ([at, charge]): Op =>
      (group) =>
        group.run(of(group, at), MicroUsd(charge))
  ),
  fc.tuple(who, fc.nat(9), cents(1, 12_000), fc.boolean()).map(
    ([at, deposit, amount, returns]): Op =>
      (group) =>
        group.back(of(group, at), deposit, amount, returns)
  ),
  fc.constant<Op>((group) => group.accrue())
)

test("whatever a group does, bonuses and shares stay below what the platform keeps of its runs", () => {
  let bonuses = 0
  let takenCards = 0
  fc.assert(
    fc.property(terms, fc.array(op, { minLength: 5, maxLength: 60 }), (found, ops) => {
      const group = new Group(found)
      group.join(null)
      group.join(0)
      for (const act of ops) {
        act(group)
        // What lies in a wallet earns a sixth when it is spent.
        const coming = group.sum(({ wallet }) => max(zero, wallet.balance) / 6n + 1n)
        expect(group.given() <= group.kept() + coming).toBe(true)
      }
      bonuses += group.members.filter((one) => one.given > 0n).length
      takenCards += group.members.filter((one) => one.bonus?.state === "pending" && one.books.length > 0).length
      for (let round = 0; round < 500; round++) {
        for (const member of group.members) group.run(member, available(member.wallet))
        if (!group.accrue()) break
      }
      expect(group.given() <= group.kept()).toBe(true)
      // A card earns one bonus.
      const cards = group.members.flatMap(({ bonus }) => bonus?.card ?? [])
      expect(new Set(cards).size).toBe(cards.length)
    }),
    { numRuns: 1_000 }
  )
  expect(bonuses).toBeGreaterThan(50)
  expect(takenCards).toBeGreaterThan(50)
})

test("$5.00 for $10.00 fails it: three mailboxes take more than their runs bring", () => {
  const group = new Group({ deposit_min: dollars("10.00"), deposit_bonus: dollars("5.00"), share_bps: 1_000 })
  group.join(null)
  for (let n = 0; n < 3; n++) {
    group.join(0)
    group.deposit(of(group, n + 1), dollars("10.00"), `card_${n}`)
  }
  while (group.members.some(({ wallet }) => wallet.balance > 0n)) {
    for (const member of group.members) group.run(member, available(member.wallet))
    group.accrue()
  }
  expect(group.given() > group.kept()).toBe(true)
})

test("a setting that pays more than its deposit earns is refused, by name and with the highest amount", async () => {
  const read = (settings: Record<string, string>) => Effect.runPromise(settingsOf(settings))
  const bonus = "RUNGATE_REFERRAL_DEPOSIT_BONUS"
  expect((await read({})).referral).toMatchObject({ deposit_min: dollars("10.00"), deposit_bonus: dollars("1.00") })
  expect((await read({ [bonus]: "1.50" })).referral.deposit_bonus).toBe(dollars("1.50"))
  await expect(read({ [bonus]: "1.51" })).rejects.toThrow(`${bonus} must be at most 1.50`)
  await expect(read({ [bonus]: "5.00" })).rejects.toThrow(bonus)
  expect((await read({ [bonus]: "5.00", RUNGATE_REFERRAL_DEPOSIT_MIN: "33.34" })).referral.deposit_bonus).toBe(
    dollars("5.00")
  )
  // The default gives way to a share that leaves less.
  expect((await read({ RUNGATE_REFERRAL_SHARE_PERCENT: "100" })).referral.deposit_bonus).toBe(zero)
})
