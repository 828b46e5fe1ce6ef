/** Quotes: a handler decodes the request as a run's, asks the actor and shows the quote. Nothing is written. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Quotes } from "../../actors/runs/Quotes.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { defined } from "../../schema/defined.ts"
import { usd } from "../../schema/money/Money.ts"
import { controlsOf } from "../../schema/runs/Run.ts"
import { ownMessage } from "../../schema/accounts/OwnMessages.ts"
import { Api } from "../api/Api.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { requireVerified } from "../middleware/Verified.ts"
import { requestOf } from "../submission/SubmitRun.ts"

export const QuotesHandlers = HttpApiBuilder.group(
  Api,
  "quotes",
  Effect.fnUntraced(function* (handlers) {
    const quotes = yield* Quotes
    const settings = yield* Settings

    return handlers.handle(
      "quote",
      Effect.fnUntraced(function* ({ payload, request }) {
        const { org_id, key_id, access } = yield* requireVerified(settings)
        const { request_id } = yield* RequestContext
        const caller = {
          org_id,
          key_id,
          access,
          request_id,
          idempotency_key: null,
          fingerprint: "",
          wait_millis: 0,
          metadata: null
        }
        // The middleware has received the body already, so reading it does not wait.
        const planned = yield* requestOf(payload, caller, Effect.orDie(request.text))
        const { offers, refused, routing_reason, ...quote } = yield* quotes.quote(planned)
        return {
          currency: "USD" as const,
          minimum: usd(quote.minimum),
          expected: usd(quote.expected),
          maximum: usd(quote.maximum),
          hold: usd(quote.hold),
          offers: offers.map(({ provider, price, expected_success, excluded_because, account }) => ({
            provider,
            ...defined({ account }),
            price: usd(price),
            expected_success,
            chosen: excluded_because === null,
            excluded_because
          })),
          routing_reason,
          ...(quote.reused_from === null ? {} : { reused_from: quote.reused_from }),
          would: refused === null ? ("run" as const) : ("block" as const),
          controls: refused === null ? [] : controlsOf({ ...refused, key_id }),
          ...(refused === null
            ? {}
            : {
                error: {
                  code: refused.code,
                  message:
                    (access?.reads ?? null) === null ? refused.message : ownMessage(refused.code, refused.message)
                }
              })
        }
      })
    )
  })
)
