/** Payments of all organizations, and events that did not fit. Read only. */
import { Effect, Schema } from "effect"
import { makePaymentList } from "../../../layers/operator/PaymentList.ts"
import { OperatorPayment, PaymentMismatch } from "../../../schema/nouns/operator/Payment.ts"
import { group } from "../group.ts"
import { pageBy } from "../ListPage.ts"
import { makeOrganizationOf } from "./NamedOrganization.ts"

const mismatchesMax = 100

const paymentJson = Schema.encodeSync(OperatorPayment)
const mismatchJson = Schema.encodeSync(PaymentMismatch)

export const OperatorPaymentsHandlers = group(
  "operatorPayments",
  Effect.fnUntraced(function* (handlers) {
    const payments = yield* makePaymentList
    const { inQuery } = yield* makeOrganizationOf
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const filter = { org_id: yield* inQuery(query.org_id), state: query.state ?? null }
        const read = (before: string | null, limit: number) => payments.list(filter, before, limit)
        return yield* pageBy("pay", query, read, ({ payment_id }) => payment_id, paymentJson)
      }),

      mismatches: Effect.fnUntraced(function* () {
        const rows = yield* payments.mismatches(mismatchesMax)
        return { items: rows.map((row) => mismatchJson(row)) }
      })
    })
  })
)
