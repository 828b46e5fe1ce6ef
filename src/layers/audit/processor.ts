/**
 * Compares our payments with the payment processor's settled payments and lists every difference. Pure.
 *
 * The two sides are read one after the other while payments continue. So each difference says whether it may be a payment in progress,
 * and whether a refund would resolve it. ProcessorAudit.ts checks those cases.
 */
import { Schema } from "effect"
import { usd } from "../../schema/money/Money.ts"
import type { SettledPayment } from "../payments/Payments.ts"
import type { Violation } from "./equations.ts"

/** A payment in our books. */
export const OwnPayment = Schema.Struct({
  payment_id: Schema.String,
  org_id: Schema.String,
  kind: Schema.Literals(["checkout", "auto", "simulated"]),
  /** Microdollars. */
  amount: Schema.BigInt,
  state: Schema.Literals(["open", "paid", "failed", "expired"]),
  session_id: Schema.NullOr(Schema.String),
  payment_intent: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  /** Null unless it is paid. */
  credited_at: Schema.NullOr(Schema.Date)
})
export type OwnPayment = typeof OwnPayment.Type

export interface ComparisonInput {
  readonly own: ReadonlyArray<OwnPayment>
  readonly settled: ReadonlyArray<SettledPayment>
  /** The organizations named in `settled` that exist here. */
  readonly orgs: ReadonlySet<string>
  /** `settled` contains all payments that began after this time. */
  readonly since: Date
  /** A payment that was credited after this time may be missing from `settled`. */
  readonly creditedBy: Date
}

export interface Difference extends Violation {
  /** A payment at the processor without a top-up here. If it was refunded in full, nothing is wrong. */
  readonly uncredited: SettledPayment | null
  /** The payment may have been made just now and be credited in a moment. */
  readonly mayBeRecent: boolean
}

export interface Comparison {
  readonly differences: ReadonlyArray<Difference>
  /** Credited so recently that the processor may not list them yet. */
  readonly young: number
  /** Payments of organizations that do not exist here: another installation uses the same account. */
  readonly elsewhere: number
}

/** Differences listed per equation: enough to see what is wrong. With the key of a wrong account, every payment differs. */
const perEquation = 50

const equations = {
  settled: "E6 each paid payment is settled at the processor, for the same organization and amount",
  credited: "E6 each payment that the processor received is credited",
  once: "E6 each payment is settled once"
}

const money = (amount: bigint, currency = "usd") => `${usd(amount)} ${currency.toUpperCase()}`
const idsOf = ({ session_id, payment_intent }: OwnPayment | SettledPayment) =>
  [session_id, payment_intent].filter((name) => name !== null).join(" ")
const described = (one: SettledPayment) => `${money(one.amount, one.currency)} of ${one.org_id ?? "no organization"}`

const sameIds = (own: OwnPayment, payment: SettledPayment) =>
  payment.session_id === null
    ? payment.payment_intent === own.payment_intent
    : payment.session_id === own.session_id &&
      (own.payment_intent === null || payment.payment_intent === own.payment_intent)
const sameTerms = (own: OwnPayment, payment: SettledPayment) =>
  payment.amount === own.amount && payment.currency === "usd" && payment.org_id === own.org_id

const notSettled = (own: OwnPayment): Difference => ({
  equation: equations.settled,
  subject: own.payment_id,
  detail:
    `${own.org_id} was credited ${money(own.amount)} for ${idsOf(own)}, which is not settled at the processor. ` +
    "Look it up there, and check that STRIPE_SECRET_KEY belongs to the account that received the payment",
  uncredited: null,
  mayBeRecent: false
})

const differs = (own: OwnPayment, payment: SettledPayment): Difference => ({
  equation: equations.settled,
  subject: own.payment_id,
  detail: `${own.org_id} was credited ${money(own.amount)} for ${idsOf(own)}, but the processor has ${described(payment)}. Find out which one is right`,
  uncredited: null,
  mayBeRecent: false
})

const chargedTwice = (own: OwnPayment, payment: SettledPayment): Difference => ({
  equation: equations.once,
  subject: own.payment_id,
  detail: `credited for ${idsOf(own)}, but the processor also has ${described(payment)} for ${idsOf(payment)}, so the customer was charged twice. Refund ${idsOf(payment)} at the processor, then check with rungate admin show that the wallet still has the credit`,
  uncredited: payment,
  mayBeRecent: false
})

const notCredited = (own: OwnPayment, payment: SettledPayment): Difference => {
  const fits =
    sameTerms(own, payment) &&
    (own.session_id === null || payment.session_id === null || own.session_id === payment.session_id)
  const advice = fits
    ? "The service credits it automatically within minutes. If not, check its log, or resend the event at the processor"
    : `The payment was opened for ${money(own.amount)} of ${own.org_id}${own.session_id === null ? "" : ` as ${own.session_id}`}, so the service never credits it. Refund it at the processor`
  return {
    equation: equations.credited,
    subject: own.payment_id,
    detail: `the processor has ${described(payment)} for ${idsOf(payment)}, but the payment is ${own.state} here. ${advice}`,
    uncredited: payment,
    mayBeRecent: true
  }
}

const missing = (payment_id: string, payment: SettledPayment): Difference => ({
  equation: equations.credited,
  subject: payment_id,
  detail: `the processor has ${described(payment)} for ${idsOf(payment)}, but this database has no such payment. If it was restored from a backup, refund the payment at the processor`,
  uncredited: payment,
  mayBeRecent: false
})

export const compare = ({ own, settled, orgs, since, creditedBy }: ComparisonInput): Comparison => {
  const ownIds = new Set(own.map((one) => one.payment_id))
  const settledOf = new Map<string, Array<SettledPayment>>()
  const differences: Array<Difference> = []
  let elsewhere = 0
  let young = 0
  for (const one of settled) {
    const { payment_id, org_id } = one
    if (payment_id === null) continue
    if (ownIds.has(payment_id)) settledOf.set(payment_id, [...(settledOf.get(payment_id) ?? []), one])
    else if (org_id !== null && orgs.has(org_id)) differences.push(missing(payment_id, one))
    else elsewhere += 1
  }
  for (const payment of own) {
    const candidates = settledOf.get(payment.payment_id) ?? []
    if (payment.state !== "paid") {
      differences.push(...candidates.map((one) => notCredited(payment, one)))
      continue
    }
    const match = candidates.find((one) => sameIds(payment, one))
    if (match !== undefined && !sameTerms(payment, match)) differences.push(differs(payment, match))
    if (match === undefined && payment.created_at >= since) {
      if (payment.credited_at !== null && payment.credited_at > creditedBy) young += 1
      else differences.push(notSettled(payment))
    }
    differences.push(...candidates.filter((one) => one !== match).map((one) => chargedTwice(payment, one)))
  }
  return { differences, young, elsewhere }
}

/** The violations to report, at most `perEquation` per equation. */
export const limitPerEquation = (differences: ReadonlyArray<Difference>): ReadonlyArray<Violation> =>
  [...Map.groupBy(differences, ({ equation }) => equation)].flatMap(([equation, all]) => {
    const rest = all.length - perEquation
    const shown = all.slice(0, perEquation).map(({ subject, detail }) => ({ equation, subject, detail }))
    return rest > 0
      ? [...shown, { equation, subject: `${rest} more payments`, detail: `${all.length} in total` }]
      : shown
  })
