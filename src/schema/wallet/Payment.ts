/**
 * The state machine of a payment: what each event from the payment processor does to the wallet, in any order and any number of times.
 *
 * Decisions depend on the payment's current state and not on the order of events. A payment is credited once, when it is first reported as
 * paid. The clawed-back amount is the sum that the processor has taken back, at most the payment. A referral's deposit bonus is reversed with
 * the deposit that earned it.
 */
import * as Auto from "./AutoTopup.ts"
import type { AutoTopup } from "./AutoTopup.ts"
import * as Money from "../money/Money.ts"
import type { PaymentFact, Standing } from "./PaymentFact.ts"
import { standings } from "./PaymentFact.ts"
import { type Entry, type Movement, post, type Wallet } from "./Wallet.ts"

export interface Payment {
  readonly payment_id: string
  readonly org_id: string
  readonly kind: "checkout" | "auto" | "simulated"
  readonly amount: Money.MicroUsd
  readonly state: "open" | "paid" | "failed" | "expired"
  readonly session_id: string | null
  readonly payment_intent: string | null
  /** The fingerprint of the card that paid. Null if the processor did not send it. */
  readonly card: string | null
  /** The sum that refunds and disputes took back, at most `amount`. */
  readonly clawed_back: Money.MicroUsd
  /** Why it failed, for its owner. */
  readonly failure: string | null
}

export interface Reversal {
  readonly reversal_id: string
  readonly payment_id: string
  /** The charge that it takes back. Null if the processor did not send it. */
  readonly payment_intent: string | null
  readonly kind: "refund" | "dispute"
  readonly amount: Money.MicroUsd
  readonly standing: Standing
}

/** The bonus of a referred organization for its first deposit of at least `deposit_min`. */
export interface DepositBonus {
  readonly referral_id: string
  readonly deposit_min: Money.MicroUsd
  readonly deposit_bonus: Money.MicroUsd
  readonly state: "pending" | "granted" | "revoked"
  readonly payment_id: string | null
  /** The card that earned it, if it is stored. */
  readonly card: string | null
  /** How often it was revoked or restored. */
  readonly changes: number
}

/** The rows that an event of the processor may read and change, besides the wallet. */
export interface PaymentBook {
  readonly payment: Payment
  readonly reversals: ReadonlyArray<Reversal>
  readonly bonus: DepositBonus | null
  /** Whether the card of this payment has earned the bonus of another organization. A card earns one. */
  readonly card_taken: boolean
  readonly auto: AutoTopup | null
}

/** What an event did. `mismatch`: it does not match the stored payment, so an operator should look at it. */
export type Outcome = "credited" | "applied" | "repeated" | "ignored" | "mismatch"

interface Step {
  readonly book: PaymentBook
  readonly movements: ReadonlyArray<Movement>
  readonly outcome: Outcome
}

const unchanged = (book: PaymentBook, outcome: Outcome): Step => ({ book, movements: [], outcome })

/** The reference of the payment in the ledger. */
const referenceOf = ({ session_id, payment_intent, payment_id }: Payment) => session_id ?? payment_intent ?? payment_id

/** The prefix of simulated payment intents. No id of the processor has a second underscore. */
export const simulatedIntentPrefix = "pi_sim_"

const noteOf = ({ kind, payment_intent }: Payment): string => {
  // In the sandbox, an automatic top-up also has the kind `auto`. Its payment intent shows that it is simulated.
  const simulated = kind === "simulated" || payment_intent?.startsWith(simulatedIntentPrefix) === true
  const what = kind === "auto" ? "automatic top-up" : "top-up"
  if (simulated) return `simulated ${what} (sandbox: no money moved)`
  return kind === "auto" ? what : `${what} by card`
}

const movement = (type: Movement["type"], amount: Money.MicroUsd, reference: string, note: string): Movement => ({
  type,
  amount,
  run_id: null,
  reference,
  note
})

/** Whether the reversal is of the charge that was credited, and not of another charge for the same payment. */
const concerns = ({ payment_intent }: Payment, reversal: Reversal) =>
  payment_intent === null || reversal.payment_intent === null || reversal.payment_intent === payment_intent

const taken = (payment: Payment, reversals: ReadonlyArray<Reversal>): Money.MicroUsd => {
  const current = reversals.filter((one) => one.standing === "taken" && concerns(payment, one))
  return Money.min(payment.amount, Money.sum(current.map((one) => one.amount)))
}

/** Posts the difference between what the ledger has taken back and what is taken back now. `by` is the reversal that changed. */
const claw = (payment: Payment, reversals: ReadonlyArray<Reversal>, by: Reversal) => {
  const clawed_back = taken(payment, reversals)
  const change = Money.minus(payment.clawed_back, clawed_back)
  const what = by.kind === "refund" ? "refund of a top-up" : "disputed top-up"
  return {
    payment: { ...payment, clawed_back },
    movements:
      change === 0n
        ? []
        : change < 0n
          ? [movement("refund", change, by.reversal_id, what)]
          : [movement("refund", change, `${by.reversal_id}:returned`, `${what}: returned`)]
  }
}

/** Grants, revokes or restores the bonus. It is valid while the deposit that earned it, less what was clawed back, is large enough. */
const bonusFor = ({ payment, bonus, card_taken }: PaymentBook) => {
  if (bonus === null || payment.state !== "paid") return { bonus, movements: [] }
  const { referral_id, deposit_bonus, state } = bonus
  const enough = Money.minus(payment.amount, payment.clawed_back) >= bonus.deposit_min
  const changes = bonus.changes + 1
  if (state === "pending") {
    if (!enough || card_taken) return { bonus, movements: [] }
    const { payment_id, card } = payment
    const granted = { ...bonus, state: "granted" as const, payment_id, card: deposit_bonus === 0n ? null : card }
    const credit = movement("bonus", deposit_bonus, referral_id, "welcome bonus of a referral")
    return { bonus: granted, movements: deposit_bonus === 0n ? [] : [credit] }
  }
  if (bonus.payment_id !== payment.payment_id || enough === (state === "granted")) return { bonus, movements: [] }
  const [next, amount, what] = enough
    ? (["granted", deposit_bonus, "restored"] as const)
    : (["revoked", Money.negate(deposit_bonus), "revoked"] as const)
  const change = movement(
    "refund",
    amount,
    `${referral_id}:${what}:${changes}`,
    `welcome bonus ${what} with its deposit`
  )
  return { bonus: { ...bonus, state: next, changes }, movements: deposit_bonus === 0n ? [] : [change] }
}

const pay = (book: PaymentBook, fact: Extract<PaymentFact, { _tag: "Paid" }>): Step => {
  const { payment, reversals } = book
  // The processor also reports the charge behind a checkout. Only the event with the session belongs to the checkout.
  if (payment.kind !== "auto" && fact.session_id === null) return unchanged(book, "ignored")
  if (payment.state === "paid") return unchanged(book, "repeated")
  const same = payment.session_id === null || payment.session_id === fact.session_id
  if (!same || fact.amount !== payment.amount || fact.currency !== "usd") return unchanged(book, "mismatch")
  const session_id = payment.kind === "auto" ? null : fact.session_id
  const { payment_intent, card = null } = fact
  let paid: Payment = { ...payment, state: "paid", session_id, payment_intent, card, failure: null }
  const movements = [movement("topup", paid.amount, referenceOf(paid), noteOf(paid))]
  // Reversals that arrived before the payment are applied now, one after the other.
  for (const [index, reversal] of reversals.entries()) {
    const clawed = claw(paid, reversals.slice(0, index + 1), reversal)
    paid = clawed.payment
    movements.push(...clawed.movements)
  }
  const arrive = (auto: AutoTopup) =>
    paid.kind !== "auto"
      ? Auto.renew(auto)
      : payment.state === "open"
        ? Auto.succeed(auto)
        : Auto.succeedLate(auto, paid.amount)
  const auto = book.auto === null ? null : arrive(book.auto)
  return { book: { ...book, payment: paid, auto }, movements, outcome: "credited" }
}

const fail = (book: PaymentBook, fact: Extract<PaymentFact, { _tag: "Failed" }>, nowMicros: bigint): Step => {
  const { payment, auto } = book
  // A card was declined on a checkout page. The customer may still use another card there.
  if (payment.kind !== "auto" && fact.session_id === null) return unchanged(book, "ignored")
  // A failure also replaces `expired`, because it says more, in whichever order the two events arrive.
  if (payment.state !== "open" && payment.state !== "expired") return unchanged(book, "repeated")
  const failed = { ...payment, state: "failed" as const, failure: fact.reason }
  const declined =
    auto === null || payment.kind !== "auto" ? auto : Auto.decline(auto, payment.amount, fact.reason, nowMicros)
  return { book: { ...book, payment: failed, auto: declined }, movements: [], outcome: "applied" }
}

const reverse = (book: PaymentBook, fact: Extract<PaymentFact, { _tag: "Reversed" }>): Step => {
  const stored = book.reversals.find((one) => one.reversal_id === fact.reversal_id)
  const rank = (standing: Standing) => standings.indexOf(standing)
  if (stored !== undefined && rank(stored.standing) >= rank(fact.standing)) return unchanged(book, "repeated")
  const { payment } = book
  const { reversal_id, payment_intent, kind, standing } = fact
  // The amount that comes back is the amount that was taken.
  const amount = stored?.standing === "taken" ? stored.amount : fact.amount
  const { payment_id } = payment
  const reversal: Reversal = { reversal_id, payment_id, payment_intent, kind, amount, standing }
  const reversals = [...book.reversals.filter((one) => one !== stored), reversal]
  const auto = standing === "taken" && book.auto?.enabled === true ? Auto.reverse(book.auto, kind) : book.auto
  const clawed = payment.state === "paid" ? claw(payment, reversals, reversal) : { payment, movements: [] }
  return { book: { ...book, ...clawed, reversals, auto }, movements: clawed.movements, outcome: "applied" }
}

const step = (book: PaymentBook, fact: PaymentFact, nowMicros: bigint): Step => {
  switch (fact._tag) {
    case "Paid":
      return pay(book, fact)
    case "Failed":
      return fail(book, fact, nowMicros)
    case "Expired":
      return book.payment.state === "open" && book.payment.kind === "checkout"
        ? { book: { ...book, payment: { ...book.payment, state: "expired" } }, movements: [], outcome: "applied" }
        : unchanged(book, "ignored")
    case "Reversed":
      return reverse(book, fact)
  }
}

export interface PaymentDecision {
  readonly wallet: Wallet
  readonly entries: ReadonlyArray<Entry>
  readonly book: PaymentBook
  readonly outcome: Outcome
}

/** Applies one event. `nowMicros` is the database's time. */
export const decidePayment = (
  wallet: Wallet,
  book: PaymentBook,
  fact: PaymentFact,
  nowMicros: bigint
): PaymentDecision => {
  const { book: after, movements, outcome } = step(book, fact, nowMicros)
  const { bonus, movements: ofBonus } = bonusFor(after)
  const posted = post(wallet, [...movements, ...ofBonus])
  return { ...posted, book: { ...after, bonus }, outcome }
}
