/**
 * Compares our payments with the processor's settled payments and lists every difference.
 *
 * Both sides are read one after the other while money moves. So each difference says whether it may be a payment in progress, and whether it
 * ends when the payer gets the money back. ProcessorAudit.ts follows up on those.
 */
import { Schema } from "effect"
import { usd } from "../../schema/money/Money.ts"
import type { SettledPayment } from "../payments/Payments.ts"
import type { Violation } from "./equations.ts"

/** A payment as our books have it. */
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

export interface Sides {
  readonly own: ReadonlyArray<OwnPayment>
  readonly settled: ReadonlyArray<SettledPayment>
  /** Those of the organizations named there that exist here. */
  readonly orgs: ReadonlySet<string>
  /** The processor was asked about all payments begun since then. */
  readonly since: Date
  /** What was credited later may be missing from the processor's list. */
  readonly creditedBy: Date
}

export interface Difference extends Violation {
  /** Money there that stands for nothing here: once the payer has it back, nothing is wrong. */
  readonly surplus: SettledPayment | null
  /** It may have been paid just now. */
  readonly news: boolean
}

export interface Comparison {
  readonly differences: ReadonlyArray<Difference>
  /** Credited so lately that the processor's list need not have them. */
  readonly young: number
  /** Settled for organizations that aren't ours: another installation shares the account. */
  readonly elsewhere: number
}

/** Enough to see what is wrong: the wrong account's key makes a difference of every payment. */
const perEquation = 50

const equations = {
  settled: "E6 each paid payment is settled at the processor, for the same organization and amount",
  credited: "E6 each payment that the processor has the money of is credited",
  once: "E6 each payment is settled once"
}

const money = (amount: bigint, currency = "usd") => `${usd(amount)} ${currency.toUpperCase()}`
const namesOf = ({ session_id, payment_intent }: OwnPayment | SettledPayment) =>
  [session_id, payment_intent].filter((name) => name !== null).join(" ")
const told = (one: SettledPayment) => `${money(one.amount, one.currency)} of ${one.org_id ?? "nobody"}`

const sameNames = (own: OwnPayment, there: SettledPayment) =>
  there.session_id === null
    ? there.payment_intent === own.payment_intent
    : there.session_id === own.session_id &&
      (own.payment_intent === null || there.payment_intent === own.payment_intent)
const sameTerms = (own: OwnPayment, there: SettledPayment) =>
  there.amount === own.amount && there.currency === "usd" && there.org_id === own.org_id

const unknown = (own: OwnPayment): Difference => ({
  equation: equations.settled,
  subject: own.payment_id,
  detail:
    `${money(own.amount)} of ${own.org_id} were credited for ${namesOf(own)}, which the processor does not know as settled: ` +
    "look it up there, and whether STRIPE_SECRET_KEY is of the account that took it",
  surplus: null,
  news: false
})

const differs = (own: OwnPayment, there: SettledPayment): Difference => ({
  equation: equations.settled,
  subject: own.payment_id,
  detail: `${money(own.amount)} of ${own.org_id} were credited for ${namesOf(own)}, and the processor has ${told(there)}: find out which is right`,
  surplus: null,
  news: false
})

const twice = (own: OwnPayment, there: SettledPayment): Difference => ({
  equation: equations.once,
  subject: own.payment_id,
  detail: `credited for ${namesOf(own)}, and the processor has ${told(there)} for ${namesOf(there)} as well: the payer was charged twice, refund the latter there, and see by rungate admin show that the wallet keeps the former`,
  surplus: there,
  news: false
})

const uncredited = (own: OwnPayment, there: SettledPayment): Difference => {
  const fits =
    sameTerms(own, there) &&
    (own.session_id === null || there.session_id === null || own.session_id === there.session_id)
  const advice = fits
    ? "a running service credits it by itself within minutes, so look at its log, or send its event again there"
    : `asked for were ${money(own.amount)} of ${own.org_id}${own.session_id === null ? "" : ` by ${own.session_id}`}, so it is never credited by itself: refund it there`
  return {
    equation: equations.credited,
    subject: own.payment_id,
    detail: `the processor has ${told(there)} for ${namesOf(there)}, and here the payment is ${own.state}: ${advice}`,
    surplus: there,
    news: true
  }
}

const lost = (payment_id: string, there: SettledPayment): Difference => ({
  equation: equations.credited,
  subject: payment_id,
  detail: `the processor has ${told(there)} for ${namesOf(there)}, and there is no such payment here: was the database restored from a backup? Refund it there`,
  surplus: there,
  news: false
})

export const compare = ({ own, settled, orgs, since, creditedBy }: Sides): Comparison => {
  const known = new Map(own.map((one) => [one.payment_id, one]))
  const there = new Map<string, Array<SettledPayment>>()
  const differences: Array<Difference> = []
  let elsewhere = 0
  let young = 0
  for (const one of settled) {
    const { payment_id, org_id } = one
    if (payment_id === null) continue
    if (known.has(payment_id)) there.set(payment_id, [...(there.get(payment_id) ?? []), one])
    else if (org_id !== null && orgs.has(org_id)) differences.push(lost(payment_id, one))
    else elsewhere += 1
  }
  for (const payment of own) {
    const found = there.get(payment.payment_id) ?? []
    if (payment.state !== "paid") {
      differences.push(...found.map((one) => uncredited(payment, one)))
      continue
    }
    const mine = found.find((one) => sameNames(payment, one))
    if (mine !== undefined && !sameTerms(payment, mine)) differences.push(differs(payment, mine))
    if (mine === undefined && payment.created_at >= since) {
      if (payment.credited_at !== null && payment.credited_at > creditedBy) young += 1
      else differences.push(unknown(payment))
    }
    differences.push(...found.filter((one) => one !== mine).map((one) => twice(payment, one)))
  }
  return { differences, young, elsewhere }
}

/** What is shown of them. */
export const shorten = (differences: ReadonlyArray<Difference>): ReadonlyArray<Violation> =>
  [...Map.groupBy(differences, ({ equation }) => equation)].flatMap(([equation, found]) => {
    const rest = found.length - perEquation
    const shown = found.slice(0, perEquation).map(({ subject, detail }) => ({ equation, subject, detail }))
    return rest > 0
      ? [...shown, { equation, subject: `${rest} more payments`, detail: `${found.length} in all` }]
      : shown
  })
