/** Calls with an unknown outcome, and the findings of operators. A finding moves no money and repeats no call. */
import { Effect, Schema } from "effect"
import { UnknownOutcomes } from "../../../layers/runs/UnknownOutcomes.ts"
import { problem, refused } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { UnknownOutcome } from "../../../schema/nouns/operator/Outcome.ts"
import { listUnknownOutcomes } from "../../../schema/Steps.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { group } from "../group.ts"
import { pageBy } from "../ListPage.ts"
import { makeOrganizationOf } from "./NamedOrganization.ts"

const noOutcome = problem(
  "not_found",
  withCommands`No run with this id has an unknown outcome. List those with ${listUnknownOutcomes}.`
)

const outcomeJson = Schema.encodeSync(UnknownOutcome)

export const OperatorOutcomesHandlers = group(
  "operatorOutcomes",
  Effect.fnUntraced(function* (handlers) {
    const asOperator = yield* makeAsOperator
    const outcomes = yield* UnknownOutcomes
    const { inQuery } = yield* makeOrganizationOf
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const filter = { org_id: yield* inQuery(query.org_id), resolved: query.resolved === "true" }
        const read = (before: string | null, limit: number) => outcomes.list({ ...filter, before }, limit)
        return yield* pageBy("run", query, read, ({ run_id }) => run_id, outcomeJson)
      }),

      resolve: Effect.fnUntraced(function* ({ params: { run_id }, payload: { finding, note } }) {
        if (!looksLike("run", run_id)) return yield* Effect.fail(noOutcome)
        const isNew = yield* asOperator(outcomes.resolve(run_id, finding, note.trim()))
        const row = yield* outcomes.find(run_id)
        if (row === null) return yield* Effect.fail(noOutcome)
        if (!isNew && row.finding !== finding)
          return yield* refused("finding", `was already recorded as ${row.finding}; nothing was changed`)
        return outcomeJson(row)
      })
    })
  })
)
