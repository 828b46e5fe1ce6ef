/**
 * Audits the books against the payment processor: every top-up must match a payment there, and every payment there must match a top-up.
 *
 * It reads the processor first and our books second, so a payment that is credited in between is no difference. It counts payments of
 * the last minutes, and payments that were refunded, separately. It writes nothing on either side.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Violation } from "./equations.ts"
import { compare, type Difference, limitPerEquation, OwnPayment } from "./processor.ts"
import { snapshot } from "./snapshot.ts"
import { rowsOf, texts } from "../postgres/Rows.ts"
import { Payments, type SettledPayment } from "../payments/Payments.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import { simulatedIntentPrefix } from "../../schema/wallet/Payment.ts"
import { sum } from "../../schema/money/Money.ts"

export interface ProcessorReport {
  /** All payments at the processor that were compared. */
  readonly settled: number
  /** Payments so recent that the other side may not list them yet. */
  readonly on_their_way: number
  /** Payments at the processor without a top-up here, which were refunded in full. */
  readonly given_back: number
  /** Payments of organizations that do not exist here: another installation uses the same account. */
  readonly elsewhere: number
  readonly violations: ReadonlyArray<Violation>
}

const dayMillis = 86_400_000
/** The time in which a webhook or the reconciler credits a payment. Younger differences are not reported. */
const inProgressMillis = 120_000
/** The processor's list begins this much earlier than ours, because the two clocks may differ. */
const marginMillis = 3_600_000
/** Differences that are checked for refunds, with two requests each. The remaining ones are reported without this check. */
const refundChecksMax = 100

const ownPaymentRows = rowsOf(OwnPayment.fields)
const orgIdRows = rowsOf({ org_id: Schema.String })

export const makeProcessorAudit = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const payments = yield* Payments
  const store = yield* PaymentStore

  /** Our payments since `since`, and all payments that the processor lists, however old. */
  const read = (settled: ReadonlyArray<SettledPayment>, since: Date) =>
    snapshot(
      sql,
      Effect.gen(function* () {
        const own = yield* ownPaymentRows(sql`
          SELECT p.payment_id, p.org_id, p.kind, p.amount, p.state, p.session_id, p.payment_intent, p.created_at, c.credited_at
          FROM payments p LEFT JOIN LATERAL (SELECT max(e.created_at) AS credited_at FROM payment_events e
                                             WHERE e.payment_id = p.payment_id AND e.outcome = 'credited') c ON true
          WHERE p.payment_id IN (SELECT unnest(${texts(settled.map((one) => one.payment_id))}))
             OR (p.state = 'paid' AND p.kind <> 'simulated' AND p.created_at >= ${since}
                   AND NOT starts_with(coalesce(p.payment_intent, ''), ${simulatedIntentPrefix}))
          ORDER BY p.payment_id`)
        const orgs = yield* orgIdRows(sql`
          SELECT org_id FROM orgs WHERE org_id IN (SELECT unnest(${texts(settled.map((one) => one.org_id))}))`)
        return { own, orgs: new Set(orgs.map((one) => one.org_id)) }
      })
    ).pipe(Effect.orDie)

  /** Ids of the sessions and payments that the processor reports as paid since `since`. */
  const paidSince = Effect.fnUntraced(function* (since: Date) {
    const events = yield* payments.eventsSince(since)
    const paid = events.filter(({ facts }) => facts.some((fact) => fact._tag === "Paid"))
    return new Set(paid.flatMap(({ about }) => [about.session_id, about.payment_intent]))
  })

  const wasRefunded = Effect.fnUntraced(function* ({ amount, payment_intent }: SettledPayment) {
    if (payment_intent === null) return false
    const facts = yield* payments.reversals(payment_intent)
    const taken = facts.filter((fact) => fact._tag === "Reversed" && fact.standing === "taken")
    return sum(taken.flatMap((fact) => ("amount" in fact ? [fact.amount] : []))) >= amount
  })

  /** Compares the payments of the last `days`. Calls `progress` with a short text before each step. */
  return Effect.fn("ProcessorAudit.run")(function* (days: number, progress: (text: string) => Effect.Effect<void>) {
    const now = 1_000 * (yield* store.nowSeconds)
    const since = new Date(Math.max(0, now - days * dayMillis))
    const creditedBy = new Date(now - inProgressMillis)
    yield* progress(`reading the processor's settled payments of ${days} days`)
    const settled = yield* payments.settledSince(new Date(Math.max(0, since.getTime() - marginMillis)))
    yield* progress(`comparing ${settled.length} settled payments with the books`)
    const { own, orgs } = yield* read(settled, since)
    const { differences, young, elsewhere } = compare({ own, settled, orgs, since, creditedBy })

    yield* progress(`looking up ${differences.length} differences at the processor`)
    const anyRecent = differences.some((one) => one.mayBeRecent)
    const paidRecently = anyRecent ? yield* paidSince(creditedBy) : new Set<string | null>()
    const remaining: Array<Difference> = []
    let on_their_way = young
    let given_back = 0
    for (const [index, one] of differences.entries()) {
      const { uncredited, mayBeRecent } = one
      const ids = [uncredited?.session_id, uncredited?.payment_intent]
      if (mayBeRecent && ids.some((id) => typeof id === "string" && paidRecently.has(id))) on_their_way += 1
      else if (uncredited !== null && index < refundChecksMax && (yield* wasRefunded(uncredited))) given_back += 1
      else remaining.push(one)
    }
    const violations = limitPerEquation(remaining)
    return { settled: settled.length, on_their_way, given_back, elsewhere, violations } satisfies ProcessorReport
  })
})
