/** Calls with an unknown outcome, and the findings of operators. A finding moves no money and repeats no call. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { UnknownOutcomes, type UnknownRow } from "../../../layers/runs/UnknownOutcomes.ts"
import { problem } from "../../../schema/Errors.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { Api } from "../../api/Api.ts"
import { listLimitDefault } from "../../api/shapes/Common.ts"
import { makeOrganizationOf } from "./OrganizationOf.ts"

const field = (path: string, message: string) => problem("invalid_request", `${path} ${message}`, [{ path, message }])
const badCursor = field("query.cursor", "is not a cursor of this list")
const blankNote = field("note", "must say how you found out")
const noOutcome = problem(
  "not_found",
  "No run with this id has an unknown outcome. List them at GET /v1/operator/unknown-outcomes."
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
        if (cursor !== undefined && !looksLike("run", cursor)) return yield* Effect.fail(badCursor)
        const filter = {
          org_id: yield* inQuery(org_id),
          resolved: resolved === "true",
          ...(cursor === undefined ? {} : { before: cursor })
        }
        const rows = yield* outcomes.list(filter, limit + 1)
        const page = rows.slice(0, limit)
        const next_cursor = rows.length > limit ? (page.at(-1)?.run_id ?? null) : null
        return { items: page.map(view), next_cursor }
      }),

      resolve: Effect.fnUntraced(function* ({ params: { run_id }, payload: { finding, note } }) {
        const text = note.trim()
        if (text === "") return yield* Effect.fail(blankNote)
        if (!looksLike("run", run_id)) return yield* Effect.fail(noOutcome)
        const isNew = yield* asOperator(outcomes.resolve(run_id, finding, text))
        const row = yield* outcomes.find(run_id)
        if (row === null) return yield* Effect.fail(noOutcome)
        if (!isNew && row.finding !== finding)
          return yield* Effect.fail(field("finding", `was already recorded as ${row.finding}; nothing was changed`))
        return view(row)
      })
    })
  })
)
