/** The opt-outs of the whole service. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { Api } from "../../api/Api.ts"
import type { CurrentOperator } from "../../api/operator/OperatorAuth.ts"
import { makeOptOutLists } from "../accounts/OptOutLists.ts"

export const OperatorOptOutsHandlers = HttpApiBuilder.group(
  Api,
  "operatorOptOuts",
  Effect.fnUntraced(function* (handlers) {
    const lists = yield* makeOptOutLists<CurrentOperator>(yield* makeAsOperator)
    return handlers.handleAll({
      list: ({ query }) => lists.list(null, query),
      add: ({ payload }) => lists.add(null, payload),
      check: ({ payload }) => lists.check(null, payload.values),
      import: ({ payload }) => lists.import(null, payload),
      export: () => Effect.succeed(lists.export(null)),
      remove: ({ params }) => lists.remove(null, params.opt_out_id)
    })
  })
)
