/**
 * Classifies failed Stripe calls by what they mean for the payment.
 *
 * `declined`: the bank refused the charge. `refused`: Stripe rejected the request without effect. Both are certain. Every other
 * failure leaves the outcome open and becomes a `ProcessorUnavailable`. Its message contains no secrets and no text from Stripe.
 */
import { Effect, Option, Schema } from "effect"
import { ProcessorUnavailable } from "./Payments.ts"
import { reasonOf } from "./StripeObjects.ts"

export interface Declined {
  readonly _tag: "declined"
  readonly message: string
  /** Stripe's code, such as `authentication_required` or `card_declined`. */
  readonly code: string | null
}

export interface Refused {
  readonly _tag: "refused"
  /** Stripe's code, such as `resource_missing`. */
  readonly code: string | null
  /** The request parameter that caused the error. */
  readonly param: string | null
}

export type Fault = Declined | Refused | ProcessorUnavailable

const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optional(Schema.NullOr(schema))
const SdkError = Schema.Struct({
  type: Schema.String,
  message: maybe(Schema.String),
  code: maybe(Schema.String),
  param: maybe(Schema.String),
  statusCode: maybe(Schema.Number),
  requestId: maybe(Schema.String)
})
const decode = Schema.decodeUnknownOption(SdkError)

const unavailable = (message: string) => new ProcessorUnavailable({ message })

const faultOf = (thrown: unknown): Fault => {
  const fault = decode(thrown)
  if (Option.isNone(fault)) return unavailable("Stripe's answer could not be read.")
  const { type, message = null, code = null, param = null, statusCode, requestId } = fault.value
  const where = `${statusCode ?? "no answer"}${requestId ? `, request ${requestId.slice(0, 64)}` : ""}`
  switch (type) {
    case "StripeCardError":
      return { _tag: "declined", message: reasonOf({ message }), code }
    case "StripeInvalidRequestError":
      return { _tag: "refused", code, param }
    case "StripeAuthenticationError":
    case "StripePermissionError":
      return unavailable(`Stripe does not accept the key (${where}). Check STRIPE_SECRET_KEY and its permissions.`)
    case "StripeIdempotencyError":
      return unavailable(`Stripe has this payment with other details (${where}). Look it up in the Stripe dashboard.`)
    case "StripeRateLimitError":
      return unavailable(`Stripe limits the request rate (${where}). Try again in a minute.`)
    case "StripeConnectionError":
      return unavailable("Stripe could not be reached.")
    default:
      return unavailable(`Stripe could not answer (${where}).`)
  }
}

/** Calls Stripe and decodes the answer. */
export const request = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  call: () => Promise<unknown>
): Effect.Effect<S["Type"], Fault> =>
  Effect.tryPromise({ try: call, catch: faultOf }).pipe(
    Effect.flatMap((answer) => Schema.decodeUnknownEffect(schema)(answer)),
    Effect.catchTag("SchemaError", () => Effect.fail(unavailable("Stripe's answer could not be read.")))
  )

/** For calls that can't be declined, such as look-ups. Every failure becomes `ProcessorUnavailable`. */
export const orUnavailable = <A>(effect: Effect.Effect<A, Fault>): Effect.Effect<A, ProcessorUnavailable> =>
  Effect.mapError(effect, (fault) => {
    if (fault._tag === "ProcessorUnavailable") return fault
    const { code } = fault
    return unavailable(`Stripe refused the request${code === null ? "" : ` (${code.slice(0, 64)})`}.`)
  })

export const isMissing = (fault: Fault, param?: string): boolean =>
  fault._tag === "refused" && fault.code === "resource_missing" && (param === undefined || fault.param === param)
