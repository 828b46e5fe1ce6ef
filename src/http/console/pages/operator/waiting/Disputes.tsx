/** Disputes of the outcome warranty: those that wait for the operator, who refunds the run or refuses with a reason. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { AnswerOf } from "../../../../client/Browser.ts"
import { onForm, textIn } from "../../../account/forms.ts"
import { api } from "../../../data/api.ts"
import { operatorChanged } from "../../../data/operator.ts"
import { PagedList } from "../../../lists/PagedList.tsx"
import { usePaged } from "../../../lists/usePaged.ts"
import { announce } from "../../../parts/Announcer.tsx"
import { Button } from "../../../parts/Button.tsx"
import { Id } from "../../../parts/Copy.tsx"
import { Dialog } from "../../../parts/Dialog.tsx"
import { Field, FormProblem, problemOf, Select } from "../../../parts/Field.tsx"
import { TextLink } from "../../../parts/Link.tsx"
import { Money } from "../../../parts/Money.tsx"
import { PageHead } from "../../../parts/Page.tsx"
import { Empty } from "../../../parts/States.tsx"
import { Time } from "../../../parts/Time.tsx"
import { Entry } from "./Entry.tsx"

type Dispute = AnswerOf<"operatorDisputes", "list">["items"][number]

interface Asked {
  readonly dispute: Dispute
  readonly decision: "accept" | "refuse"
}

const pageSize = 50

const states: Readonly<Record<Dispute["state"], string>> = {
  pending: "waits for a decision",
  not_bounced: "the provider reports no bounce",
  refunded: "refunded",
  refused: "refused"
}

const Decide = ({ asked: { dispute, decision }, onClose }: { readonly asked: Asked; readonly onClose: () => void }) => {
  const accepts = decision === "accept"
  const { run_id } = dispute
  const decide = useMutation({
    mutationFn: (form: FormData) =>
      api.operatorDisputes[decision]({ params: { run_id }, payload: { note: textIn(form, "note") } }),
    onSuccess: () => {
      announce(accepts ? "The run is refunded." : "The dispute is refused.")
      operatorChanged()
      onClose()
    }
  })
  return (
    <Dialog open onClose={onClose} title={accepts ? "Refund the run?" : "Refuse the dispute?"}>
      <form onSubmit={onForm((form) => decide.mutate(form))} className="space-y-4">
        <p className="break-words">
          {accepts
            ? `The organization gets the whole charge of ${run_id} back, once, within your share of revenue. It can't be undone.`
            : `The organization gets nothing back for ${run_id}, and no provider is asked about it any more.`}
        </p>
        <Field
          label="Why (the organization reads it)"
          name="note"
          required
          maxLength={500}
          autoComplete="off"
          problem={problemOf(decide.error, "note")}
        />
        <p className="text-muted">The audit log keeps it under your name.</p>
        <FormProblem error={decide.error} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={accepts ? "primary" : "danger"} busy={decide.isPending}>
            {accepts ? "Refund the run" : "Refuse the dispute"}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const Row = ({ dispute, onDecide }: { readonly dispute: Dispute; readonly onDecide: (asked: Asked) => void }) => (
  <Entry
    title={
      <>
        <TextLink to={`/operator/organizations/${dispute.org_id}`}>{dispute.org_id}</TextLink>:{" "}
        <span className="font-medium">{states[dispute.state]}</span>
        {dispute.refund !== null && (
          <>
            {" "}
            <Money amount={dispute.refund} />
          </>
        )}
      </>
    }
    action={
      dispute.state !== "refunded" && (
        <span className="flex flex-wrap gap-2">
          <Button onClick={() => onDecide({ dispute, decision: "accept" })}>
            Refund…<span className="sr-only"> {dispute.run_id}</span>
          </Button>
          {dispute.state !== "refused" && (
            <Button onClick={() => onDecide({ dispute, decision: "refuse" })}>
              Refuse…<span className="sr-only"> {dispute.run_id}</span>
            </Button>
          )}
        </span>
      )
    }
    why={dispute.evidence}
  >
    <Time at={dispute.created_at} />
    <Id id={dispute.run_id} what="the run's id" />
    <span className="min-w-0 break-words">{dispute.note}</span>
  </Entry>
)

const Disputes = () => {
  const [asked, setAsked] = useState<Asked | null>(null)
  const [decided, setDecided] = useState<"true" | "false">("false")
  const paged = usePaged(["operator", "disputes", decided], (from) =>
    api.operatorDisputes.list({ query: { limit: pageSize, decided, ...from } })
  )
  return (
    <>
      <PageHead title="Disputes">
        Customers say that an address bounced which a run called valid, and no provider could confirm it.
      </PageHead>
      <Select
        label="Which disputes"
        value={decided}
        onChange={(event) => setDecided(event.target.value === "true" ? "true" : "false")}
        options={[
          ["false", "waiting for a decision"],
          ["true", "all"]
        ]}
        className="mb-4 w-full max-w-60"
      />
      <PagedList
        paged={paged}
        empty={
          <Empty title={decided === "true" ? "There is no dispute." : "No dispute waits for a decision."}>
            <p className="text-muted">A dispute that the outcome warranty can't decide by itself will be here.</p>
          </Empty>
        }
      >
        {(disputes) => (
          <ul className="rounded border border-line bg-panel px-4">
            {disputes.map((dispute) => (
              <Row key={dispute.run_id} dispute={dispute} onDecide={setAsked} />
            ))}
          </ul>
        )}
      </PagedList>
      {asked !== null && <Decide asked={asked} onClose={() => setAsked(null)} />}
    </>
  )
}

export default Disputes
