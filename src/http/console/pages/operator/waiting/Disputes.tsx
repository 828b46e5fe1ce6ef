/** Disputes of the outcome warranty: those that wait for the operator, who refunds the run or refuses with a reason. */
import { type AnswerOf, api } from "../../../data/api.ts"
import { textIn } from "../../../actions/Actions.tsx"
import { useFilters } from "../../../data/address.ts"
import { FilterSelect } from "../../../lists/Filters.tsx"
import { wordOf } from "../../../lists/nouns.tsx"
import { PagedList, usePaged } from "../../../lists/PagedList.tsx"
import { Id, Money, Time } from "../../../parts/Values.tsx"
import { Field } from "../../../parts/Field.tsx"
import { PageHead, TextLink } from "../../../parts/Page.tsx"
import { Ask, Entry } from "../parts.tsx"

type Dispute = AnswerOf<"operatorDisputes", "list">["items"][number]

interface DecideProps extends Pick<Dispute, "run_id"> {
  readonly decision: "accept" | "refuse"
}

const Decide = ({ run_id, decision }: DecideProps) => {
  const accepts = decision === "accept"
  const word = accepts ? "Refund…" : "Refuse…"
  return (
    <Ask
      send={(form) => api.operatorDisputes[decision]({ params: { run_id }, payload: { note: textIn(form, "note") } })}
      says={accepts ? "The run is refunded." : "The dispute is refused."}
      word={word}
      label={`${word} ${run_id}`}
      look={accepts ? "primary" : "danger"}
      title={accepts ? "Refund the run?" : "Refuse the dispute?"}
      confirm={accepts ? "Refund the run" : "Refuse the dispute"}
    >
      <p className="break-words">
        {accepts
          ? `The organization gets the whole charge of ${run_id} back, once, within your share of revenue. It can't be undone.`
          : `The organization gets nothing back for ${run_id}, and no provider is asked about it any more.`}
      </p>
      <Field label="Why (the organization reads it)" name="note" required maxLength={500} autoComplete="off" />
    </Ask>
  )
}

const entryOf = (dispute: Dispute) => (
  <Entry
    key={dispute.run_id}
    title={
      <>
        <TextLink to={`/operator/organizations/${dispute.org_id}`}>{dispute.org_id}</TextLink>:{" "}
        <span className="font-medium">{wordOf("Dispute", "state", dispute.state)}</span>
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
          <Decide run_id={dispute.run_id} decision="accept" />
          {dispute.state !== "refused" && <Decide run_id={dispute.run_id} decision="refuse" />}
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
  const decided = useFilters()[0]["decided"] === "true" ? "true" : "false"
  const paged = usePaged(["operator", "disputes", decided], (from) =>
    api.operatorDisputes.list({ query: { decided, ...from } })
  )
  return (
    <>
      <PageHead>
        Customers say that an address bounced which a run called valid, and no provider could confirm it.
      </PageHead>
      <FilterSelect
        name="decided"
        label="Which disputes"
        hideLabel={false}
        any="waiting for a decision"
        options={{ true: "all" }}
        className="mb-4 w-full max-w-60"
      />
      <PagedList
        paged={paged}
        empty={decided === "true" ? "There is no dispute." : "No dispute waits for a decision."}
        hint="A dispute that the outcome warranty can't decide by itself will be here."
      >
        {(disputes) => <ul className="rounded border border-line bg-panel px-4">{disputes.map(entryOf)}</ul>}
      </PagedList>
    </>
  )
}

export default Disputes
