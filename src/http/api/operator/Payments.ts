/** The contract of payments of all organizations, and of the processor's events that did not fit. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { OperatorPayment, PaymentMismatch, paymentStates } from "../../../schema/nouns/operator/Payment.ts"
import { pagesWith } from "../shapes/Common.ts"
import { orgFilter } from "./Fields.ts"
import { forOperators } from "./OperatorAuth.ts"

export class OperatorPaymentsApi extends HttpApiGroup.make("operatorPayments").add(
  forOperators("List payments", "Of all organizations, newest first.").get("list", "/operator/payments", {
    ...pagesWith(OperatorPayment, {
      state: Schema.optionalKey(Schema.Literals(paymentStates)),
      ...orgFilter
    })
  }),
  forOperators(
    "List payment events that did not fit",
    "The newest hundred events whose amount, currency or organization differs from the stored payment. Nothing was booked for them. rungate audit compares with the processor itself."
  ).get("mismatches", "/operator/payments/mismatches", {
    success: Schema.Struct({ items: Schema.Array(PaymentMismatch) })
  })
) {}
