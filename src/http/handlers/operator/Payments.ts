/** Payments of all organizations, and events that did not fit. Read only. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { type ListedPayment, PaymentList } from "../../../layers/operator/PaymentList.ts"
import { usd } from "../../../schema/money/Money.ts"
import { Api } from "../../api/Api.ts"
import { pageBy } from "../ListPage.ts"
import { makeOrganizationOf } from "./NamedOrganization.ts"

const mismatchesMax = 100

const view = (payment: ListedPayment) => ({
  ...payment,
  amount: usd(payment.amount),
  clawed_back: usd(payment.clawed_back),
  created_at: payment.created_at.toISOString(),
  ended_at: payment.ended_at?.toISOString() ?? null
})

export const OperatorPaymentsHandlers = HttpApiBuilder.group(
  Api,
  "operatorPayments",
  Effect.fnUntraced(function* (handlers) {
    const payments = yield* PaymentList
    const { inQuery } = yield* makeOrganizationOf
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const filter = { org_id: yield* inQuery(query.org_id), state: query.state ?? null }
        const read = (before: string | null, limit: number) => payments.list(filter, before, limit)
        return yield* pageBy("pay", query, read, ({ payment_id }) => payment_id, view)
      }),

      mismatches: Effect.fnUntraced(function* () {
        const rows = yield* payments.mismatches(mismatchesMax)
        return { items: rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() })) }
      })
    })
  })
)
