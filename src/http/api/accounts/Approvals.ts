/** The contract of approvals: rules that say which runs need a member's yes, the runs that wait for one, and the decisions. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { approvalStates } from "../../../schema/guards/Approval.ts"
import { Approval, ApprovalRule, ruleName, ruleSettings } from "../../../schema/nouns/Approval.ts"
import { component, withExample, removed } from "../../../schema/nouns/Noun.ts"
import { byAdmins, operation, optional, pages, pagesWith, reads } from "../shapes/Common.ts"

export const RuleRequest = component("ApprovalRuleRequest", { ...ruleSettings, name: ruleName }).pipe(
  withExample({ name: "Large runs", min_hold: "1.00", role: "admin", expires_after: 86_400 })
)
const RuleChange = component("ApprovalRuleChange", ruleSettings).pipe(withExample({ active: false }))

/** As many as a page of the console shows. */
const decidedMax = 100

const digest = optional(Schema.String.check(Schema.isMaxLength(64))).annotate({
  description: "the digest of the approval that the member saw: another one is refused"
})
const decision = {
  payload: component("ApprovalDecision", { digest }).pipe(withExample({})),
  success: Approval,
  error: [Wire.service_unavailable]
} as const

export class ApprovalsApi extends HttpApiGroup.make("approvals").add(
  reads("List approval rules", "Newest first.", "approval-rules list").get(
    "rules",
    "/approval-rules",
    pages(ApprovalRule)
  ),
  byAdmins(
    "Add an approval rule",
    "A run that matches all conditions of an active rule holds its money and waits for a member's yes. Without conditions every run does. By default an admin decides within a day, and not about the own run. Runs that wait already keep the rule as it was.",
    "approval-rules add"
  ).post("addRule", "/approval-rules", {
    payload: RuleRequest,
    success: ApprovalRule
  }),
  byAdmins(
    "Change an approval rule",
    "Fields that are left out stay. null removes a condition.",
    "approval-rules update"
  ).patch("changeRule", "/approval-rules/:approval_rule_id", { payload: RuleChange, success: ApprovalRule }),
  byAdmins("Remove an approval rule", "Runs that wait for an approval wait on.", "approval-rules remove").delete(
    "removeRule",
    "/approval-rules/:approval_rule_id",
    { success: removed("apr", "RemovedApprovalRule") }
  ),
  reads(
    "List approvals",
    "The runs that wait for a member's yes, and those that did. Newest first.",
    "approvals list"
  ).get("list", "/approvals", {
    ...pagesWith(Approval, { state: Schema.optionalKey(Schema.Literals(approvalStates)) })
  }),
  reads("Read an approval", "What the run would do, and what members said.").get("get", "/approvals/:run_id", {
    success: Approval
  }),
  operation(
    { role: "member", keys: "people", command: "approvals approve" },
    "Approve a run",
    "Starts a run that waits. The rule says which role may. A yes counts once, for the input, the offers and the hold that the run has: it never costs more than its hold, nor calls another provider."
  ).post("approve", "/runs/:run_id/approve", decision),
  operation(
    { role: "member", keys: "people", command: "approvals deny" },
    "Deny a run",
    "Ends a run that waits as cancelled with approval_denied, and releases its hold."
  ).post("deny", "/runs/:run_id/deny", decision),
  operation(
    { role: "member", keys: "people" },
    "Decide many runs",
    `At most ${decidedMax} runs, such as those of a batch. Each is decided by itself, and the answer says for each whether the decision counts.`
  ).post("decide", "/approvals/decide", {
    payload: component("ApprovalDecisions", {
      decision: Schema.Literals(["approve", "deny"]),
      run_ids: Schema.NonEmptyArray(Schema.String.check(Schema.isMaxLength(60))).check(Schema.isMaxLength(decidedMax))
    }).pipe(withExample({ decision: "approve", run_ids: ["run_01m81nzk95mq351g8pvrxgm8m4"] })),
    success: component("ApprovalsDecided", {
      items: Schema.Array(
        Schema.Struct({
          run_id: Schema.String,
          decided: Schema.Boolean,
          message: Schema.NullOr(Schema.String).annotate({ description: "why the decision does not count" })
        })
      )
    })
  })
) {}
