/** The opt-outs of an organization. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { makeOptOutLists } from "./OptOutLists.ts"

export const OptOutsHandlers = HttpApiBuilder.group(
  Api,
  "optOuts",
  Effect.fnUntraced(function* (handlers) {
    const lists = yield* makeOptOutLists<CurrentCaller>(yield* makeAsCaller)
    const own = <A, E, R>(use: (org_id: string) => Effect.Effect<A, E, R>) =>
      Effect.flatMap(CurrentCaller, ({ org_id }) => use(org_id))
    return handlers.handleAll({
      list: ({ query }) => own((org_id) => lists.list(org_id, query)),
      add: ({ payload }) => own((org_id) => lists.add(org_id, payload)),
      check: ({ payload }) => own((org_id) => lists.check(org_id, payload.values)),
      import: ({ payload }) => own((org_id) => lists.import(org_id, payload)),
      export: () => own((org_id) => Effect.succeed(lists.export(org_id))),
      remove: ({ params }) => own((org_id) => lists.remove(org_id, params.opt_out_id))
    })
  })
)
