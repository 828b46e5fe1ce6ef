/** On the page of a run that waits for a member's yes: for whom, until when, and the buttons. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { Panel } from "../../parts/Page.tsx"
import { Time } from "../../parts/Values.tsx"
import { Decide } from "./Decide.tsx"

export const Waits = ({ run }: { readonly run: AnswerOf<"runs", "get"> }) => {
  const may = useMay("approvals.approve")
  const { run_id, approval } = run
  const query = useRead(["approvals", run_id], () => api.approvals.get({ params: { run_id } }))
  if (approval === undefined) return null
  return (
    <Panel title="Waits for an approval">
      <p className="mb-3">
        The rule “{approval.rule}” asks for the yes of {approval.role === "member" ? "a member" : `an ${approval.role}`}{" "}
        until <Time at={approval.expires_at} />. No provider is called before.
      </p>
      {may && query.data !== undefined && <Decide approval={query.data} />}
    </Panel>
  )
}
