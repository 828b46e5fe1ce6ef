/** Quotes: a handler decodes the request as a run's, asks the actor and shows the quote. Nothing is written. */
import { Effect, Schema } from "effect"
import { makeQuote } from "../../actors/runs/Quotes.ts"
import { Quote } from "../../schema/nouns/Quote.ts"
import { controlsOf } from "../../schema/runs/Run.ts"
import { ownMessage } from "../../schema/accounts/OwnMessages.ts"
import { group } from "./group.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { requestOf } from "../submission/SubmitRun.ts"

const quoteJson = Schema.encodeSync(Quote)

export const QuotesHandlers = group(
  "quotes",
  Effect.fnUntraced(function* (handlers) {
    const quoteOf = yield* makeQuote

    return handlers.handle(
      "quote",
      Effect.fnUntraced(function* ({ payload, request }) {
        const { org_id, key_id, access } = yield* CurrentCaller
        const { request_id } = yield* RequestContext
        const caller = {
          org_id,
          key_id,
          access,
          request_id,
          idempotency_key: null,
          fingerprint: "",
          wait_millis: 0,
          metadata: payload.metadata ?? null
        }
        // The middleware has received the body already, so reading it does not wait.
        const planned = yield* requestOf(payload, caller, Effect.orDie(request.text))
        const { refused, reused_from, approval_rule, budgets: all, ...quote } = yield* quoteOf(planned)
        const sees = (access?.reads ?? null) === null
        // Other runs count in the budget of a label.
        const budgets = sees ? all : all.filter(({ label }) => label === null)
        return quoteJson({
          ...quote,
          currency: "USD",
          offers: quote.offers.map((one) => ({ ...one, chosen: one.excluded_because === null })),
          ...(reused_from === null ? {} : { reused_from }),
          ...(approval_rule === null ? {} : { approval_required: true as const, approval_rule }),
          ...(budgets.length === 0 ? {} : { budgets }),
          would: refused === null ? "run" : "block",
          controls: refused === null ? [] : controlsOf({ ...refused, key_id }),
          ...(refused === null
            ? {}
            : { error: { ...refused, message: sees ? refused.message : ownMessage(refused.code, refused.message) } })
        })
      })
    )
  })
)
