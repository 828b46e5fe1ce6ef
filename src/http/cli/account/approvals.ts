/** `rungate approvals` and `rungate approval-rules`: runs that wait for a member's yes. Deciding and changing rules need a session. */
import { Command, Flag } from "effect/cli"
import { Approval, ApprovalRule } from "../../../schema/nouns/Approval.ts"
import { ApprovalsApi } from "../../api/accounts/Approvals.ts"
import { drawn, listed, said } from "../answers/draw.ts"
import { row } from "../answers/row.ts"
import { argument, metadata } from "../terminal/flags.ts"

const { endpoints } = ApprovalsApi

const ruled = drawn(ApprovalRule, ({ name, role, active }) => [
  active
    ? `Runs that match the rule "${name}" wait for the yes of ${role === "member" ? "a member" : `an ${role}`}.`
    : `The rule "${name}" is off.`
])

const rules = row(endpoints.rules, {
  show: listed(ApprovalRule, "No run needs an approval. Add a rule with: rungate approval-rules add large --min-hold 1")
})
const labels = metadata("runs with this label, as name=value, such as customer=acme; may be repeated", "label").pipe(
  Flag.map((all) => (all.length === 0 ? null : Object.fromEntries(all)))
)
const addRule = row(endpoints.addRule, {
  fields: { name: argument("name", "a name that says which runs it is about"), labels, active: false },
  show: ruled,
  examples: {
    "rungate approval-rules add large --min-hold 1": "Runs that may cost $1 or more",
    "rungate approval-rules add mail --capabilities email.send --role owner": "Every e-mail, decided by an owner"
  }
})
const changeRule = row(endpoints.changeRule, {
  fields: { name: "a new name", labels, active: "false: no new run waits because of it" },
  show: ruled
})
const removeRule = row(endpoints.removeRule, {
  confirm: "Remove {approval_rule_id}? New runs will no longer wait for an approval because of it.",
  show: said("Removed {approval_rule_id}.")
})

const list = row(endpoints.list, { show: listed(Approval, "No run waits for an approval.") })
const approve = row(endpoints.approve, {
  show: said("Approved {run_id}. It starts as soon as there is a free slot.")
})
const deny = row(endpoints.deny, {
  show: said("Denied {run_id}. Nothing was charged.")
})

export const approvalRules = Command.make("approval-rules").pipe(
  Command.withDescription("List, add, change and remove the rules that say which runs need an approval"),
  Command.withSubcommands([rules, addRule, changeRule, removeRule])
)
export const approvals = Command.make("approvals").pipe(
  Command.withDescription(
    "List, approve and deny runs that wait for a member's yes. Only people decide: an API key lists them, and no key approves or denies"
  ),
  Command.withSubcommands([list, approve, deny])
)
