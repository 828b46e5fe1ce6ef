/**
 * The audit against the payment processor: every top-up must match a payment there, and every payment for us must match a top-up.
 *
 * The processor is read first and our books second, so a payment that is credited in between is no difference. Payments of the last minutes,
 * and money that went back to its payer, are counted separately. Nothing is written on either side.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Violation } from "./equations.ts"
import { compare, type Difference, OwnPayment, shorten } from "./processor.ts"
import { snapshot } from "./snapshot.ts"
import { texts } from "../postgres/Columns.ts"
import { Payments, type ProcessorUnavailable, type SettledPayment } from "../payments/Payments.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import { simulatedIntentPrefix } from "../../schema/wallet/Payment.ts"
import { sum } from "../../schema/money/Money.ts"
import { rowsOf } from "../postgres/Rows.ts"

export interface ProcessorReport {
  /** Payments that the processor has the money of, all that were compared. */
  readonly settled: number
  /** Paid or credited so lately that the other side need not know yet. */
  readonly on_their_way: number
  /** Money that nothing here stands for and that its payer has back. */
  readonly given_back: number
  /** Settled for organizations that aren't ours: another installation shares the account. */
  readonly elsewhere: number
  readonly violations: ReadonlyArray<Violation>
}

const dayMillis = 86_400_000
/** Its webhook, or the reconciler, is given so long. */
const wayMillis = 120_000
/** A session is made after our payment, by another clock: the processor is asked about a little more than we hold against it. */
const marginMillis = 3_600_000
/** Each is two requests. With more differences than these something larger is wrong, and all of the rest are named. */
const lookedUpMax = 100

const ownPaymentRows = rowsOf(OwnPayment.fields)
const orgIdRows = rowsOf({ org_id: Schema.String })

export class ProcessorAudit extends Context.Service<
  ProcessorAudit,
  {
    /** Compares the payments of so many days. `doing` hears what it is at, for who waits. */
    readonly run: (
      days: number,
      doing: (what: string) => Effect.Effect<void>
    ) => Effect.Effect<ProcessorReport, ProcessorUnavailable>
  }
>()("rungate/layers/audit/ProcessorAudit") {
  static readonly layer = Layer.effect(
    ProcessorAudit,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const payments = yield* Payments
      const store = yield* PaymentStore

      /** Ours of that time, and all that the processor names, whenever they were begun. */
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

      /** By its names, what the processor knows to have been paid lately. */
      const paidSince = Effect.fnUntraced(function* (since: Date) {
        const events = yield* payments.eventsSince(since)
        const paid = events.filter(({ facts }) => facts.some((fact) => fact._tag === "Paid"))
        return new Set(paid.flatMap(({ about }) => [about.session_id, about.payment_intent]))
      })

      const wentBack = Effect.fnUntraced(function* ({ amount, payment_intent }: SettledPayment) {
        if (payment_intent === null) return false
        const facts = yield* payments.reversals(payment_intent)
        const taken = facts.filter((fact) => fact._tag === "Reversed" && fact.standing === "taken")
        return sum(taken.flatMap((fact) => ("amount" in fact ? [fact.amount] : []))) >= amount
      })

      const run = Effect.fn("ProcessorAudit.run")(function* (
        days: number,
        doing: (what: string) => Effect.Effect<void>
      ) {
        const now = 1_000 * (yield* store.nowSeconds)
        const since = new Date(Math.max(0, now - days * dayMillis))
        const creditedBy = new Date(now - wayMillis)
        yield* doing(`reading the processor's settled payments of ${days} days`)
        const settled = yield* payments.settledSince(new Date(Math.max(0, since.getTime() - marginMillis)))
        yield* doing(`holding ${settled.length} settled payments against the books`)
        const { own, orgs } = yield* read(settled, since)
        const { differences, young, elsewhere } = compare({ own, settled, orgs, since, creditedBy })

        yield* doing(`asking the processor about ${differences.length} differences`)
        const isNews = differences.some((one) => one.news)
        const lately = isNews ? yield* paidSince(creditedBy) : new Set<string | null>()
        const stay: Array<Difference> = []
        let on_their_way = young
        let given_back = 0
        for (const [index, one] of differences.entries()) {
          const { surplus, news } = one
          const names = [surplus?.session_id, surplus?.payment_intent]
          if (news && names.some((name) => typeof name === "string" && lately.has(name))) on_their_way += 1
          else if (surplus !== null && index < lookedUpMax && (yield* wentBack(surplus))) given_back += 1
          else stay.push(one)
        }
        return { settled: settled.length, on_their_way, given_back, elsewhere, violations: shorten(stay) }
      })

      return ProcessorAudit.of({ run })
    })
  )
}
