/** Approves or denies one run, after a question that repeats what it may cost. The digest is that of what the page shows. */
import { type AnswerOf, api } from "../../data/api.ts"
import { ActionButton, ConfirmAction, useAction } from "../../actions/Actions.tsx"

export type Approval = AnswerOf<"approvals", "list">["items"][number]

const changes = ["approvals", "run", "runs"]

export const Decide = ({ approval: { run_id, digest, hold, providers } }: { readonly approval: Approval }) => {
  const sent = { params: { run_id }, payload: { digest } }
  const deny = useAction(() => api.approvals.deny(sent), { says: "The run is denied. Nothing was charged.", changes })
  return (
    <div className="flex flex-wrap items-start gap-2">
      <ConfirmAction
        send={() => api.approvals.approve(sent)}
        says="The run is approved, and starts."
        changes={changes}
        word="Approve"
        title="Approve this run?"
        confirm="Approve the run"
        cancel="Let it wait"
        look="primary"
      >
        <p>
          It starts at once, calls {providers.join(", then ")} and costs at most ${hold}.
        </p>
      </ConfirmAction>
      <ActionButton action={deny}>Deny</ActionButton>
    </div>
  )
}
