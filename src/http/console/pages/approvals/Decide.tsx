/** Approves or denies one run, after a question that repeats what it may cost. The digest is that of what the page shows. */
import { ActionButton, ConfirmAction } from "../../actions/Actions.tsx"
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { Loaded, May, Panel } from "../../parts/Page.tsx"
import { Time } from "../../parts/Values.tsx"

export type Approval = AnswerOf<"approvals", "list">["items"][number]

const changes = ["approvals", "run", "runs"]

export const Decide = ({ approval: { run_id, digest, hold, providers } }: { readonly approval: Approval }) => {
  const sent = { params: { run_id }, payload: { digest } }

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
      <ActionButton
        send={() => api.approvals.deny(sent)}
        says="The run is denied. Nothing was charged."
        changes={changes}
      >
        Deny
      </ActionButton>
    </div>
  )
}

/** On the page of a run that waits for a member's yes: for whom, until when, and the buttons. */
export const Waits = ({ run }: { readonly run: AnswerOf<"runs", "get"> }) => {
  const { run_id, approval } = run
  const query = useRead(["approvals", run_id], () => api.approvals.get({ params: { run_id } }))
  if (approval === undefined) return null
  return (
    <Panel title="Waits for an approval">
      <p className="mb-3">
        The rule “{approval.rule}” asks for the yes of {approval.role === "member" ? "a member" : `an ${approval.role}`}{" "}
        until <Time at={approval.expires_at} />. No provider is called before.
      </p>
      <May operation="approvals.approve">
        <Loaded query={query}>{(shown) => <Decide approval={shown} />}</Loaded>
      </May>
    </Panel>
  )
}
