/** Runs that wait for a member's yes, and the rules that make runs wait. An agent's words link here, with the run in the address. */
import { ActionButton, ConfirmAction } from "../../actions/Actions.tsx"
import { useFilters } from "../../data/address.ts"
import { type AnswerOf, api } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { Page, Panel } from "../../parts/Page.tsx"
import { type Approval, Decide } from "./Decide.tsx"

const form = payloadForm("approvals", "addRule", ["active"])
const changes = ["approval-rules"]

const Rules = () => {
  const may = useMay("approvals.addRule")
  const paged = usePaged(["approval-rules"], (from) => api.approvals.rules({ query: from }))
  const actions = ({ id, name, active }: AnswerOf<"approvals", "rules">["items"][number]) => {
    const params = { approval_rule_id: id }
    return (
      <div className="flex flex-wrap items-start justify-end gap-2">
        <ActionButton send={() => api.approvals.changeRule({ params, payload: { active: !active } })} changes={changes}>
          {active ? "Turn off" : "Turn on"}
        </ActionButton>
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
  return (
    <>
      <Panel title="Rules">
        <PagedTable
          paged={paged}
          label="Which runs wait"
          columns={columnsOf("ApprovalRule", { actions: may && actions })}
          empty="No run needs an approval."
          hint="A rule says from which amount, for which capabilities or keys a run waits."
        />
      </Panel>
      {may && (
        <PayloadForm
          title="Add a rule"
          form={form}
          words={{ name: { placeholder: "Large runs" } }}
          send={(payload) => api.approvals.addRule({ payload })}
          says="The rule is added. It applies to runs from now on."
          changes={changes}
          submit="Add the rule"
        />
      )}
    </>
  )
}

const Approvals = () => {
  const may = useMay("approvals.approve")
  const [{ run = "" }] = useFilters()
  const paged = usePaged(
    ["approvals", "pending"],
    (from) => api.approvals.list({ query: { state: "pending", ...from } }),
    { changing: () => true }
  )
  // The run of the address comes first.
  const items = paged.items?.toSorted((a, b) => Number(b.run_id === run) - Number(a.run_id === run)) ?? null
  const decide = { title: "Decide", cell: (one: Approval) => <Decide approval={one} />, align: "right" as const }
  return (
    <Page lead="Runs that wait for the yes of a member. Their money is held.">
      <Panel title="Waiting">
        <PagedTable
          paged={{ ...paged, items }}
          label="Runs that wait"
          columns={[...columnsOf("Approval"), ...(may ? [decide] : [])]}
          empty="No run waits for an approval."
          hint="A rule below says which runs wait."
        />
      </Panel>
      <Rules />
    </Page>
  )
}

export default Approvals
