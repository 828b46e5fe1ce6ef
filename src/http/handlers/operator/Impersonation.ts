/** Looks into an organization's runs. Each begins with a reason in the organization's audit log, and none can change anything. */
import { Clock, Effect, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts } from "../../../layers/accounts/Accounts.ts"
import { Impersonations } from "../../../layers/operator/Impersonations.ts"
import { RunStore } from "../../../layers/runs/RunStore.ts"
import { problem } from "../../../schema/Errors.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { Api } from "../../api/Api.ts"
import { CurrentOperator } from "../../api/operator/OperatorAuth.ts"
import { listLimitDefault } from "../../api/shapes/Common.ts"
import { listedJson, runJson } from "../../views/RunView.ts"

const field = (path: string, message: string) => problem("invalid_request", `${path} ${message}`, [{ path, message }])
const badCursor = field("query.cursor", "is not a cursor of this list")
const blankReason = field("reason", "must say why you look")
const noOrganization = problem("not_found", "There is no organization with this id.")
const noRun = problem("not_found", "This organization has no run with this id.")
const needsReason = problem(
  "forbidden",
  "Say first why you look into this organization: POST /v1/operator/organizations/{org_id}/impersonation. It opens the runs for half an hour."
)

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

export const OperatorImpersonationHandlers = HttpApiBuilder.group(
  Api,
  "operatorImpersonation",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const asOperator = yield* makeAsOperator
    const impersonations = yield* Impersonations
    const store = yield* RunStore

    const allowed = Effect.fnUntraced(function* (org_id: string) {
      const { session_id } = yield* CurrentOperator
      if ((yield* impersonations.find(session_id, org_id)) === null) return yield* Effect.fail(needsReason)
    })

    return handlers.handleAll({
      begin: Effect.fnUntraced(function* ({ params: { org_id }, payload }) {
        const reason = payload.reason.trim()
        if (reason === "") return yield* Effect.fail(blankReason)
        const { session_id } = yield* CurrentOperator
        if (!looksLike("org", org_id) || Option.isNone(yield* accounts.organization(org_id)))
          return yield* Effect.fail(noOrganization)
        const begun = yield* asOperator(impersonations.begin(session_id, org_id, reason))
        return { org_id, reason: begun.reason, expires_at: begun.expires_at.toISOString() }
      }),

      runs: Effect.fnUntraced(function* ({ params: { org_id }, query }) {
        const { status = null, cursor = null, limit = listLimitDefault } = query
        if (cursor !== null && !looksLike("run", cursor)) return yield* Effect.fail(badCursor)
        yield* allowed(org_id)
        const rows = yield* store.list({ ...everyRun, org_id, status, before: cursor, limit: limit + 1 })
        const page = rows.slice(0, limit)
        const next = rows.length > limit ? (page.at(-1)?.run_id ?? null) : null
        const now = yield* Clock.currentTimeMillis
        const items = page.map((run) => listedJson(run, now)).join(",")
        return json(`{"items":[${items}],"next_cursor":${JSON.stringify(next)}}`)
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
