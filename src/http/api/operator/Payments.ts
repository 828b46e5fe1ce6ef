/** The contract of payments of all organizations, and of the processor's events that did not fit. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { listQuery } from "../shapes/Common.ts"
import { orgFilter } from "./Fields.ts"
import { forOperators, OperatorAuth } from "./OperatorAuth.ts"

const nullable = Schema.NullOr(Schema.String)
const states = ["open", "paid", "failed", "expired"] as const

export const OperatorPayment = Schema.Struct({
  payment_id: Schema.String,
  org_id: Schema.String,
  organization: Schema.String,
  kind: Schema.String,
  amount: Schema.String,
  state: Schema.Literals(states),
  session_id: nullable,
  payment_intent: nullable,
  clawed_back: Schema.String.annotate({ description: "What refunds and disputes took back." }),
  failure: nullable,
  created_at: Schema.String,
  ended_at: nullable
}).annotate({ identifier: "OperatorPayment" })

export const PaymentMismatch = Schema.Struct({
  event_id: Schema.String.annotate({ description: "The event's id at the payment processor." }),
  payment_id: Schema.String,
  org_id: Schema.String,
  fact: Schema.String,
  created_at: Schema.String
}).annotate({ identifier: "PaymentMismatch" })

export class OperatorPaymentsApi extends HttpApiGroup.make("operatorPayments")
  .add(
    HttpApiEndpoint.get("list", "/operator/payments", {
      query: {
        ...listQuery,
        state: Schema.optionalKey(Schema.Literals(states)),
        ...orgFilter
      },
      success: Schema.Struct({ items: Schema.Array(OperatorPayment), next_cursor: nullable }),
      error: [Wire.invalid_request]
    }).annotateMerge(forOperators("List payments", "Of all organizations, newest first.")),
    HttpApiEndpoint.get("mismatches", "/operator/payments/mismatches", {
      success: Schema.Struct({ items: Schema.Array(PaymentMismatch) })
    }).annotateMerge(
      forOperators(
        "List payment events that did not fit",
        "The newest hundred events whose amount, currency or organization differs from the stored payment. Nothing was booked for them. rungate audit compares with the processor itself."
      )
    )
  )
  .middleware(OperatorAuth) {}
