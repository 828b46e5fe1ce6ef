/** The rules that say which runs need a member's yes, and the form of a new one, from the contract. */
import { type AnswerOf, api } from "../../data/api.ts"
import { ActionButton, ActionForm, ConfirmAction, useAction } from "../../actions/Actions.tsx"
import { useMay } from "../../data/session.ts"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../forms/PayloadFields.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { Empty, Panel } from "../../parts/Page.tsx"

type Rule = AnswerOf<"approvals", "rules">["items"][number]

const form = payloadForm("approvals", "addRule", ["active"])
const changes = ["approval-rules"]

const Add = () => {
  const add = useAction((sent: FormData) => api.approvals.addRule({ payload: payloadIn(sent) }), {
    says: "The rule is added. It applies to runs from now on.",
    changes
  })
  return (
    <Panel title="Add a rule" className="mt-6">
      <ActionForm action={add} submit="Add the rule" className="space-y-3">
        <PayloadFields form={form} words={{ name: { placeholder: "Large runs" } }} />
      </ActionForm>
    </Panel>
  )
}

const Actions = ({ rule: { id, name, active } }: { readonly rule: Rule }) => {
  const params = { approval_rule_id: id }
  const turn = useAction(() => api.approvals.changeRule({ params, payload: { active: !active } }), { changes })
  return (
    <div className="flex flex-wrap items-start justify-end gap-2">
      <ActionButton action={turn}>{active ? "Turn off" : "Turn on"}</ActionButton>
      <ConfirmAction
        send={() => api.approvals.removeRule({ params })}
        says={`${name} is removed.`}
        changes={changes}
        word="Remove"
        title={`Remove ${name}?`}
        confirm="Remove the rule"
        cancel="Keep it"
      >
        <p>New runs no longer wait because of it. Runs that wait already wait on.</p>
      </ConfirmAction>
    </div>
  )
}

export const Rules = () => {
  const may = useMay("approvals.addRule")
  const paged = usePaged(["approval-rules"], (from) => api.approvals.rules({ query: from }))
  return (
    <>
      <Panel title="Rules" className="mt-6">
        <PagedTable
          paged={paged}
          label="Which runs wait"
          columns={columnsOf("ApprovalRule", { actions: may && ((rule) => <Actions rule={rule} />) })}
          empty={
            <Empty title="No run needs an approval.">
              A rule says from which amount, for which capabilities or keys a run waits.
            </Empty>
          }
        />
      </Panel>
      {may && <Add />}
    </>
  )
}
