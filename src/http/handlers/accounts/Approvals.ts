/** Approvals: people set rules and decide about runs that wait. The wallet's turn applies both. */
import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Approvals } from "../../../actors/guards/Approvals.ts"
import {
  type ApprovalRuleOrder,
  type ApprovalRuleRow,
  ApprovalRules,
  approvalRulesMax,
  conditionBytesMax,
  type Unstored
} from "../../../layers/guards/ApprovalRules.ts"
import { type ApprovalRow, ApprovalStore } from "../../../layers/members/ApprovalStore.ts"
import { problem, refused } from "../../../schema/Errors.ts"
import type { Ruling } from "../../../schema/guards/Approval.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { Approval, ApprovalRule } from "../../../schema/nouns/Approval.ts"
import { Api } from "../../api/Api.ts"
import type { RuleChange as ChangeRequest, RuleRequest } from "../../api/accounts/Approvals.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { pageBy, pageOf } from "../ListPage.ts"

const ruleJson = Schema.encodeSync(ApprovalRule)
export const approvalRuleView = ({ conditions, ...row }: ApprovalRuleRow) => ruleJson({ ...row, ...conditions })
const approvalView: (row: ApprovalRow) => typeof Approval.Encoded = Schema.encodeSync(Approval)

/** Who decides by default: an admin, within a day, and not about the own run. */
const defaults = { conditions: {}, role: "admin", self_approval: false, expires_after: 86_400, active: true } as const

/** Members of a request that are null are left out of a rule. */
const present = <A extends object>(fields: A) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))

type Fields = Partial<Omit<typeof ApprovalRule.Type, "id" | "created_at">>
interface RuleChange extends Omit<Fields, "name" | "role" | "self_approval" | "expires_after" | "active"> {
  readonly name?: string | null
  readonly role?: ApprovalRuleOrder["role"] | null
  readonly self_approval?: boolean | null
  readonly expires_after?: number | null
  readonly active?: boolean | null
}

/** The rule as a request changes it. */
const changed = (before: Omit<ApprovalRuleOrder, "name">, name: string, request: RuleChange): ApprovalRuleOrder => {
  const { name: newName, role, self_approval, expires_after, active, ...conditions } = request
  return {
    name: newName ?? name,
    role: role ?? before.role,
    self_approval: self_approval ?? before.self_approval,
    expires_after: expires_after ?? before.expires_after,
    active: active ?? before.active,
    conditions: present({ ...before.conditions, ...conditions })
  }
}

const unknownRule = (id: string) =>
  refused(
    "path.approval_rule_id",
    "is no approval rule of this organization",
    `There is no approval rule "${id}"; GET /v1/approval-rules lists them.`
  )
const unknownApproval = (run_id: string) =>
  problem("invalid_request", `There is no approval of the run "${run_id}"; GET /v1/approvals lists them.`, [
    { path: "path.run_id", message: "is not a run of this organization that needs an approval" }
  ])

const kept = (id: string, stored: ApprovalRuleRow | Unstored) => {
  switch (stored) {
    case "full":
      return refused("name", `can't be added: an organization has at most ${approvalRulesMax} approval rules`)
    case "name_taken":
      return refused("name", "is that of another approval rule")
    case "too_long":
      return refused("", `The conditions of a rule can't have more than ${conditionBytesMax} bytes.`)
    case "unknown":
      return unknownRule(id)
    default:
      return Effect.succeed(approvalRuleView(stored))
  }
}

/** The handlers and the configuration of an organization use this. */
export const makeRuleWrites = Effect.map(ApprovalRules, (rules) => ({
  add: Effect.fnUntraced(function* (payload: typeof RuleRequest.Type) {
    const { org_id } = yield* CurrentCaller
    return yield* kept("", yield* rules.add(org_id, changed(defaults, payload.name, payload)))
  }),
  change: Effect.fnUntraced(function* (id: string, payload: typeof ChangeRequest.Type) {
    const { org_id } = yield* CurrentCaller
    const before = looksLike("apr", id) ? yield* rules.find(org_id, id) : null
    if (before === null) return yield* unknownRule(id)
    return yield* kept(id, yield* rules.change(org_id, id, changed(before, before.name, payload)))
  })
}))

export const ApprovalsHandlers = HttpApiBuilder.group(
  Api,
  "approvals",
  Effect.fnUntraced(function* (handlers) {
    const [rules, store, approvals] = [yield* ApprovalRules, yield* ApprovalStore, yield* Approvals]
    const writes = yield* makeRuleWrites
    const asCaller = yield* makeAsCaller

    const find = Effect.fnUntraced(function* (run_id: string) {
      const { org_id } = yield* CurrentCaller
      const row = looksLike("run", run_id) ? yield* store.find(org_id, run_id) : null
      return row ?? (yield* Effect.fail(unknownApproval(run_id)))
    })
    const decide = Effect.fnUntraced(function* (run_id: string, act: Ruling["act"], digest: string | null) {
      const { org_id, user_id } = yield* CurrentCaller
      yield* find(run_id)
      yield* approvals.decide(org_id, run_id, { act, by: user_id, via: "session", digest })
      return approvalView(yield* find(run_id))
    })

    return handlers.handleAll({
      rules: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        return yield* pageOf("apr", query, (before, limit) => rules.list(org_id, before, limit), approvalRuleView)
      }),
      addRule: Effect.fnUntraced(function* ({ payload }) {
        return yield* asCaller(writes.add(payload))
      }),
      changeRule: Effect.fnUntraced(function* ({ params: { approval_rule_id: id }, payload }) {
        return yield* asCaller(writes.change(id, payload))
      }),
      removeRule: Effect.fnUntraced(function* ({ params: { approval_rule_id: id } }) {
        const { org_id } = yield* CurrentCaller
        const removed = looksLike("apr", id) && (yield* asCaller(rules.remove(org_id, id)))
        return removed ? { id, deleted: true as const } : yield* unknownRule(id)
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const read = (before: string | null, limit: number) => store.list(org_id, query.state ?? null, before, limit)
        return yield* pageBy("run", query, read, ({ run_id }) => run_id, approvalView)
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
