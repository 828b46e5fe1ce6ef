/** The outcome warranty of a run: until when it can be disputed, how its dispute stands, and the form that disputes it. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { AnswerOf } from "../../../../client/Browser.ts"
import { onForm, textIn } from "../../../account/forms.ts"
import { api, queries } from "../../../data/api.ts"
import { present } from "../../../data/clock.ts"
import { useMay } from "../../../data/session.ts"
import { announce } from "../../../parts/Announcer.tsx"
import { Button } from "../../../parts/Button.tsx"
import { Dialog } from "../../../parts/Dialog.tsx"
import { Field, FormProblem, problemOf } from "../../../parts/Field.tsx"
import { Money } from "../../../parts/Money.tsx"
import { Panel } from "../../../parts/Page.tsx"
import { Time } from "../../../parts/Time.tsx"

type Shown = NonNullable<AnswerOf<"runs", "details">["warranty"]>
type Dispute = NonNullable<Shown["dispute"]>

const words: Readonly<Record<Dispute["state"], string>> = {
  refunded: "Refunded",
  pending: "Not decided yet",
  not_bounced: "Not refunded: no bounce so far",
  refused: "Refused by the operator"
}

const State = ({ dispute }: { readonly dispute: Dispute }) => (
  <div className="space-y-1">
    <p>
      <span className="font-semibold">{words[dispute.state]}</span>
      {dispute.refund !== null && (
        <>
          : <Money amount={dispute.refund} /> are back in the wallet
        </>
      )}
      . Disputed <Time at={dispute.created_at} />.
    </p>
    <p className="break-words text-muted">{dispute.note}</p>
    {dispute.ask_after !== null && Date.parse(dispute.ask_after) > present() && (
      <p className="text-muted">
        The provider can be asked again <Time at={dispute.ask_after} />.
      </p>
    )}
    {dispute.evidence !== null && <p className="break-words text-muted">Evidence: {dispute.evidence}</p>}
  </div>
)

const Form = ({ run_id, onClose }: { readonly run_id: string; readonly onClose: () => void }) => {
  const send = useMutation({
    mutationFn: (form: FormData) =>
      api.disputes.dispute({
        params: { run_id },
        payload: { reason: "bounced", evidence: textIn(form, "evidence").trim() }
      }),
    onSuccess: async ({ state }) => {
      announce(`The run is disputed. ${words[state]}.`)
      await queries.invalidateQueries({ queryKey: ["run", run_id] })
      await queries.invalidateQueries({ queryKey: ["wallet"] })
      onClose()
    }
  })
  return (
    <form onSubmit={onForm((form) => send.mutate(form))} className="space-y-4">
      <p>
        The run called an address valid, and mail to it bounced. Give the id of your run that sent the message: the
        provider is asked, and if it confirms the bounce, the charge is refunded at once. The operator reads any other
        text and decides.
      </p>
      <Field
        label="The run that sent the message, or what happened"
        name="evidence"
        required
        maxLength={2000}
        autoComplete="off"
        problem={problemOf(send.error, "evidence")}
      />
      <FormProblem error={send.error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={send.isPending}>
          Dispute the run
        </Button>
      </div>
    </form>
  )
}

export const Warranty = ({
  run_id,
  warranty: { until, dispute }
}: {
  readonly run_id: string
  readonly warranty: Shown
}) => {
  const may = useMay("member")
  const [asks, setAsks] = useState(false)
  if (until === null && dispute === null) return null
  return (
    <Panel
      title="Outcome warranty"
      actions={
        until !== null &&
        may && <Button onClick={() => setAsks(true)}>{dispute === null ? "Dispute…" : "Dispute again…"}</Button>
      }
    >
      {dispute !== null && <State dispute={dispute} />}
      {until !== null && (
        <p className={dispute === null ? "" : "mt-2 text-muted"}>
          If mail to the address bounces, the charge is refunded. Disputes close <Time at={until} />.
        </p>
      )}
      <Dialog open={asks} onClose={() => setAsks(false)} title="Dispute the run?">
        <Form run_id={run_id} onClose={() => setAsks(false)} />
      </Dialog>
    </Panel>
  )
}
