/** Approvals: people set rules and decide about runs that wait. The wallet's turn applies both. */
import { Effect, Schema } from "effect"
import { makeDecideApproval } from "../../../actors/guards/Approvals.ts"
import { ApprovalStore } from "../../../layers/members/ApprovalStore.ts"
import { refused } from "../../../schema/Errors.ts"
import type { Ruling } from "../../../schema/guards/Approval.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { Approval, ApprovalRule, type RuleChange } from "../../../schema/nouns/Approval.ts"
import { listApprovalRules } from "../../../schema/Steps.ts"
import { group } from "../group.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { pageBy } from "../ListPage.ts"
import { listOf, organizationNoun } from "../OrganizationNoun.ts"

export const approvalRuleView = Schema.encodeSync(ApprovalRule)
const approvalView = Schema.encodeSync(Approval)

const rule = organizationNoun("apr", "approval rule", "approval_rule_id", listApprovalRules)
const unknownApproval = (run_id: string) =>
  refused(
    "path.run_id",
    "is not a run of this organization that needs an approval",
    `There is no approval of the run "${run_id}"; GET /v1/approvals lists them.`
  )

/** Changes a rule, or adds one if `id` is null. The handlers and the configuration of an organization use it. */
export const makeRuleWrite = Effect.map(ApprovalStore, ({ setRule }) =>
  Effect.fnUntraced(function* (id: string | null, change: RuleChange) {
    const { org_id } = yield* CurrentCaller
    const row = id === null || looksLike("apr", id) ? yield* setRule(org_id, id, change) : null
    return row === null ? yield* rule.unknown(id ?? "") : approvalRuleView(row)
  })
)

export const ApprovalsHandlers = group(
  "approvals",
  Effect.fnUntraced(function* (handlers) {
    const { rules, approvals } = yield* ApprovalStore
    const decideApproval = yield* makeDecideApproval
    const write = yield* makeRuleWrite
    const asCaller = yield* makeAsCaller

    const find = Effect.fnUntraced(function* (run_id: string) {
      const { org_id } = yield* CurrentCaller
      const row = looksLike("run", run_id) ? yield* approvals.find(org_id, run_id) : null
      return row ?? (yield* unknownApproval(run_id))
    })
    const decide = Effect.fnUntraced(function* (run_id: string, act: Ruling["act"], digest: string | null) {
      const { org_id, user_id } = yield* CurrentCaller
      yield* find(run_id)
      yield* decideApproval(org_id, run_id, { act, by: user_id, via: "session", digest })
      return approvalView(yield* find(run_id))
    })

    return handlers.handleAll({
      rules: listOf("apr", rules.list, approvalRuleView),
      addRule: ({ payload }) => asCaller(write(null, payload)),
      changeRule: ({ params, payload }) => asCaller(write(params.approval_rule_id, payload)),
      removeRule: rule.removal(asCaller, rules.remove),
      list: Effect.fnUntraced(function* ({ query: { state, ...page } }) {
        const { org_id } = yield* CurrentCaller
        const read = (before: string | null, limit: number) => approvals.list(org_id, before, limit, { state })
        return yield* pageBy("run", page, read, ({ run_id }) => run_id, approvalView)
      }),
      get: ({ params }) => Effect.map(find(params.run_id), approvalView),
      approve: ({ params, payload }) => decide(params.run_id, "approve", payload.digest ?? null),
      deny: ({ params, payload }) => decide(params.run_id, "deny", payload.digest ?? null),
      decide: Effect.fnUntraced(function* ({ payload: { decision, run_ids } }) {
        const one = (run_id: string) =>
          Effect.match(decide(run_id, decision, null), {
            onSuccess: () => ({ run_id, decided: true, message: null }),
            onFailure: ({ error }) => ({ run_id, decided: false, message: error.message })
          })
        return { items: yield* Effect.forEach([...new Set(run_ids)], one, { concurrency: 10 }) }
      })
    })
  })
)
