/**
 * The payment processor's webhook: the raw body and its signature, then durable commands, then 200.
 *
 * Anything else than 200 has the processor deliver again, so an event is answered only when it is stored. What is no message of the
 * processor's is 400 and changes nothing.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PaymentEvents } from "../actors/PaymentEvents.ts"
import { crashPoint } from "../layers/CrashPoint.ts"
import { Payments } from "../layers/Payments.ts"
import { PaymentStore } from "../layers/PaymentStore.ts"
import { type ErrorCode, problem, statusOf } from "../schema/Errors.ts"

const refuse = (code: ErrorCode, message: string) =>
  HttpServerResponse.jsonUnsafe(problem(code, message), { status: statusOf[code] })

const receive = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const payments = yield* Payments
  const store = yield* PaymentStore
  const events = yield* PaymentEvents
  const body = yield* Effect.orDie(request.text)
  const event = yield* payments.verify(body, request.headers["stripe-signature"], yield* store.nowSeconds)
  yield* crashPoint("webhook.before")
  const outcome = yield* events.hear(event)
  yield* crashPoint("webhook.after")
  return HttpServerResponse.jsonUnsafe({ received: true, outcome })
}).pipe(
  Effect.catchTags({
    SignatureRefused: ({ message }) =>
      Effect.as(Effect.logWarning(`a webhook was refused: ${message}`), refuse("invalid_request", message)),
    ProcessorUnavailable: ({ message }) => Effect.succeed(refuse("service_unavailable", message))
  })
)

export const webhookPath = "/v1/webhooks/stripe"
export const Webhooks = HttpRouter.add("POST", webhookPath, receive)

/** What the route asks of the process. */
export type WebhookServices = PaymentEvents | Payments | PaymentStore
