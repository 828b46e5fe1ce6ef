/**
 * The webhooks of providers that tell of bounced messages, one address for each provider.
 *
 * An event is verified before anything is read from it and before any statement. A verified one is answered with 200, whatever it is about,
 * or with 503 if it has to come again, as providers then do.
 * A provider without a secret in the settings has no such address.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { BounceReports } from "../actors/warranty/BounceReports.ts"
import { webhookVariableOf } from "../layers/platform/settings/ProviderSettings.ts"
import { refusedWith } from "../schema/Errors.ts"
import { jsonFlaw } from "../schema/json/JsonScan.ts"
import { receiveBody } from "./middleware/Body.ts"
import { notFound } from "./middleware/NotFound.ts"
import { providerEventsPath } from "./middleware/Paths.ts"
import { problemAnswer } from "./standards/ProblemType.ts"

const receive = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const reports = yield* BounceReports
  const provider = (yield* HttpRouter.params)["provider"] ?? ""
  if (!reports.takes(provider)) return notFound(request)
  // Not limited by address, as the payment processor's webhook: bounces of a large mailing come at once.
  const bytes = new Uint8Array(yield* receiveBody(request))
  if (jsonFlaw(bytes) === "too_deep")
    return yield* refusedWith("invalid_request", "The body is nested too deep for an event.")
  const event = { headers: request.headers, body: new TextDecoder().decode(bytes) }
  const variable = webhookVariableOf(provider)
  return yield* reports.receive(provider, event).pipe(
    Effect.map((disputed) => HttpServerResponse.jsonUnsafe({ received: true, disputed })),
    Effect.catchTags({
      EventRefused: () => {
        const message = `The event is not signed with ${variable}, or is older than five minutes. Set ${variable} to the secret of this endpoint at ${provider}.`
        return Effect.andThen(
          Effect.logWarning(`an event of ${provider} was refused`),
          refusedWith("invalid_request", message)
        )
      },
      EventPostponed: () => refusedWith("service_unavailable", "The event comes too early. Send it again later."),
      IndexBehind: ({ message }) => refusedWith("service_unavailable", message)
    })
  )
}).pipe(Effect.catch((wrong) => Effect.succeed(problemAnswer(wrong))))

export const ProviderEvents = HttpRouter.add("POST", providerEventsPath, receive)
