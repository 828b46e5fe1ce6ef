/** Calls with an unknown outcome, and the findings of operators. A finding moves no money and repeats no call. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { UnknownOutcomes, type UnknownRow } from "../../../layers/runs/UnknownOutcomes.ts"
import { problem } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { listUnknownOutcomes } from "../../../schema/Steps.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { Api } from "../../api/Api.ts"
import { listLimitDefault } from "../../api/shapes/Common.ts"
import { cursorOf, makeOrganizationOf, pageOf } from "./Lists.ts"

const field = (path: string, message: string) => problem("invalid_request", `${path} ${message}`, [{ path, message }])
const noOutcome = problem(
  "not_found",
  withCommands`No run with this id has an unknown outcome. List those with ${listUnknownOutcomes}.`
)

const view = ({ at, found_at, next_look, ...row }: UnknownRow) => ({
  ...row,
  at: at.toISOString(),
  found_at: found_at?.toISOString() ?? null,
  next_look: next_look?.toISOString() ?? null
})

export const OperatorOutcomesHandlers = HttpApiBuilder.group(
  Api,
  "operatorOutcomes",
  Effect.fnUntraced(function* (handlers) {
    const asOperator = yield* makeAsOperator
    const outcomes = yield* UnknownOutcomes
    const { inQuery } = yield* makeOrganizationOf
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query: { cursor, org_id, resolved, limit = listLimitDefault } }) {
        const before = yield* cursorOf("run", cursor)
        const filter = {
          org_id: yield* inQuery(org_id),
          resolved: resolved === "true",
          ...(before === null ? {} : { before })
        }
        const rows = yield* outcomes.list(filter, limit + 1)
        return pageOf(rows, limit, (row) => row.run_id, view)
      }),

      resolve: Effect.fnUntraced(function* ({ params: { run_id }, payload: { finding, note } }) {
        if (!looksLike("run", run_id)) return yield* Effect.fail(noOutcome)
        const isNew = yield* asOperator(outcomes.resolve(run_id, finding, note.trim()))
        const row = yield* outcomes.find(run_id)
        if (row === null) return yield* Effect.fail(noOutcome)
        if (!isNew && row.finding !== finding)
          return yield* Effect.fail(field("finding", `was already recorded as ${row.finding}; nothing was changed`))
        return view(row)
      })
    })
  })
)
