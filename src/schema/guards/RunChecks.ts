/** What the organization's own rules check of any run of a target, as inspect says it before there is an input. A quote says it of one run. Pure. */
import { Schema } from "effect"
import { type ApprovalRules, mayMatch } from "./Approval.ts"

export const RunChecks = Schema.Struct({
  approvals: Schema.Array(
    Schema.Struct({
      rule: Schema.String,
      always: Schema.Boolean.annotate({
        description: "false: it depends on the hold, the providers or the labels of the run"
      })
    })
  ).annotate({ description: "the rules by which a run waits for the yes of a member" }),
  label_budgets: Schema.Array(Schema.String).annotate({ description: "labels that have a budget, which limits a run" }),
  opt_outs: Schema.Boolean.annotate({ description: "whether a recipient on an opt-out list blocks the run" }),
  contact_guard_days: Schema.NullOr(Schema.Int).annotate({
    description: "a recipient who was contacted in these days blocks the run; null: no such rule"
  })
}).annotate({ identifier: "RunChecks" })
export type RunChecks = typeof RunChecks.Type

export const approvalsOf = (rules: ApprovalRules | undefined, target: Parameters<typeof mayMatch>[1]) =>
  (rules ?? []).flatMap((rule): RunChecks["approvals"] => {
    const matches = mayMatch(rule, target)
    return matches === "never" ? [] : [{ rule: rule.name, always: matches === "always" }]
  })

/** For people and agents. */
export const checkHints = ({
  approvals,
  label_budgets,
  opt_outs,
  contact_guard_days
}: RunChecks): ReadonlyArray<string> => [
  ...approvals.map(({ rule, always }) =>
    always
      ? `Each run waits for the yes of a member first (rule "${rule}").`
      : `A run waits for the yes of a member first if its hold, providers or labels match the rule "${rule}". A quote says whether they do.`
  ),
  ...(opt_outs
    ? ["A recipient on an opt-out list of your organization or of this service blocks a run, at no cost."]
    : []),
  ...(contact_guard_days === null
    ? []
    : [
        `A recipient whom your organization contacted in the last ${contact_guard_days} days blocks a run, at no cost.`
      ]),
  ...(label_budgets.length === 0
    ? []
    : [
        `Runs with the label ${label_budgets.join(" or ")} count in the budget of that label. A quote says what is left.`
      ])
]
