/**
 * The payment processor's webhook: verifies the raw body and its signature, stores commands, then answers 200.
 *
 * The processor retries after any other status, so 200 is sent only when the event is stored. A message that is not from the processor is
 * answered with 400 and changes nothing.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PaymentEvents } from "../actors/payments/PaymentEvents.ts"
import { crashPoint } from "../layers/platform/CrashPoint.ts"
import { Payments } from "../layers/payments/Payments.ts"
import { PaymentStore } from "../layers/payments/PaymentStore.ts"
import { refusedWith } from "../schema/Errors.ts"
import { jsonFlaw } from "../schema/json/JsonScan.ts"
import { receiveBody } from "./middleware/Body.ts"
import { webhookPath } from "./middleware/Paths.ts"
import { problemAnswer } from "./standards/ProblemType.ts"

const receive = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const payments = yield* Payments
  const store = yield* PaymentStore
  const events = yield* PaymentEvents
  // Not limited by address: whoever shares one with the processor could keep payments away. The signature is checked before any parsing.
  const bytes = new Uint8Array(yield* receiveBody(request))
  if (jsonFlaw(bytes) === "too_deep")
    return yield* refusedWith("invalid_request", "The body is nested too deep for an event.")
  const event = yield* payments.verify(
    new TextDecoder().decode(bytes),
    request.headers["stripe-signature"],
    yield* store.nowSeconds
  )
  yield* crashPoint("webhook.before")
  const outcome = yield* events.receive(event)
  yield* crashPoint("webhook.after")
  return HttpServerResponse.jsonUnsafe({ received: true, outcome })
}).pipe(
  Effect.catchTags({
    SignatureRefused: ({ message }) =>
      Effect.andThen(Effect.logWarning(`a webhook was refused: ${message}`), refusedWith("invalid_request", message)),
    ProcessorUnavailable: ({ message }) => refusedWith("service_unavailable", message)
  }),
  Effect.catch((wrong) => Effect.succeed(problemAnswer(wrong)))
)

export const Webhooks = HttpRouter.add("POST", webhookPath, receive)
