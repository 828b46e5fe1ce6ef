/** Looks into an organization's runs. Each begins with a reason in the organization's audit log, and none can change anything. */
import { Clock, Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { makeImpersonations } from "../../../layers/operator/Impersonations.ts"
import { RunStore } from "../../../layers/runs/RunStore.ts"
import { problem } from "../../../schema/Errors.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { group } from "../group.ts"
import { CurrentOperator } from "../../api/operator/OperatorAuth.ts"
import { pageBy } from "../ListPage.ts"
import { makeOrganizationOf } from "./NamedOrganization.ts"
import { Impersonation } from "../../../schema/nouns/operator/Session.ts"
import { listedJson, type ListedRow, runJson } from "../../../schema/nouns/Run.ts"

const noRun = problem("not_found", "This organization has no run with this id.")
const needsReason = problem(
  "forbidden",
  "Say first why you look into this organization: POST /v1/operator/organizations/{org_id}/impersonation. It opens the runs for half an hour."
)

const impersonationJson = Schema.encodeSync(Impersonation)

const everyRun = {
  capability: null,
  provider: null,
  endpoint: null,
  key_id: null,
  keys: null,
  from: null,
  to: null,
  metadata: null
}
const json = (text: string) => HttpServerResponse.text(text, { contentType: "application/json" })

export const OperatorImpersonationHandlers = group(
  "operatorImpersonation",
  Effect.fnUntraced(function* (handlers) {
    const { inPath: organizationOf } = yield* makeOrganizationOf
    const asOperator = yield* makeAsOperator
    const impersonations = yield* makeImpersonations
    const store = yield* RunStore

    const allowed = Effect.fnUntraced(function* (org_id: string) {
      const { session_id } = yield* CurrentOperator
      if ((yield* impersonations.find(session_id, org_id)) === null) return yield* Effect.fail(needsReason)
    })

    return handlers.handleAll({
      begin: Effect.fnUntraced(function* ({ params: { org_id }, payload }) {
        const { session_id } = yield* CurrentOperator
        yield* organizationOf(org_id)
        return impersonationJson(yield* asOperator(impersonations.begin(session_id, org_id, payload.reason.trim())))
      }),

      runs: Effect.fnUntraced(function* ({ params: { org_id }, query }) {
        const { status = null } = query
        yield* allowed(org_id)
        const now = yield* Clock.currentTimeMillis
        const read = (before: string | null, limit: number) =>
          store.list({ ...everyRun, org_id, status, before, limit })
        const shown = (run: ListedRow) => listedJson(run, now)
        const { items, next_cursor } = yield* pageBy("run", query, read, ({ run_id }) => run_id, shown)
        return json(`{"items":[${items.join(",")}],"next_cursor":${JSON.stringify(next_cursor)}}`)
      }),

      run: Effect.fnUntraced(function* ({ params: { org_id, run_id } }) {
        yield* allowed(org_id)
        const run = looksLike("run", run_id) ? yield* store.find(org_id, run_id) : null
        if (run === null) return yield* Effect.fail(noRun)
        return json(runJson(run, yield* Clock.currentTimeMillis, true))
      })
    })
  })
)
