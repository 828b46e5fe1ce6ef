/** Calls whose outcome nobody knows. The operator looks into the provider's account, and records what happened. */
import { wordsOfDoubts } from "../../../../client/operations.ts" with { type: "macro" }
import { type AnswerOf, api } from "../../../data/api.ts"
import { PagedList, usePaged } from "../../../lists/PagedList.tsx"
import { Id, Time } from "../../../parts/Values.tsx"
import { payloadForm } from "../../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../../forms/PayloadFields.tsx"
import { Page, TextLink } from "../../../parts/Page.tsx"
import { Ask, Entry } from "../parts.tsx"

type Outcome = AnswerOf<"operatorOutcomes", "list">["items"][number]

const reasons = wordsOfDoubts()

const form = payloadForm("operatorOutcomes", "resolve")
const words = {
  finding: {
    options: { delivered: "The provider carried it out", not_delivered: "The provider did not carry it out" }
  },
  note: { label: "How you found out" }
}

const Resolve = ({ outcome }: { readonly outcome: Outcome }) => (
  <Ask
    send={(form) => api.operatorOutcomes.resolve({ params: { run_id: outcome.run_id }, payload: payloadIn(form) })}
    says="The outcome is recorded."
    word="Record what happened…"
    title="Record what happened?"
    confirm="Record the finding"
  >
    <p>
      The call of {outcome.run_id} at {outcome.provider}. The organization reads the finding in the run's hints. No
      money moves, the call is not repeated, and a finding can't be changed.
    </p>
    <PayloadFields form={form} words={words} initial={{ finding: "delivered" }} />
  </Ask>
)

const entryOf = (outcome: Outcome) => (
  <Entry
    key={outcome.run_id}
    title={
      <>
        <span className="font-medium">{outcome.capability ?? outcome.endpoint ?? ""}</span> at {outcome.provider}:{" "}
        {reasons[outcome.why] ?? outcome.why}
      </>
    }
    action={<Resolve outcome={outcome} />}
    why={outcome.provider_state}
  >
    <Time at={outcome.at} />
    <Id id={outcome.run_id} what="the run's id" />
    <TextLink to={`/operator/organizations/${outcome.org_id}`}>{outcome.org_id}</TextLink>
    {outcome.next_look !== null && (
      <span>
        the service looks it up <Time at={outcome.next_look} />
      </span>
    )}
  </Entry>
)

const Outcomes = () => (
  <Page lead="Calls that the provider may have carried out or not. Look into its account before you record anything.">
    <PagedList
      paged={usePaged(["operator", "outcomes"], (from) => api.operatorOutcomes.list({ query: from }))}
      empty="No call has an unknown outcome."
      hint="A call whose answer was lost will be here until somebody or the service finds out."
    >
      {(outcomes) => <ul className="rounded border border-line bg-panel px-4">{outcomes.map(entryOf)}</ul>}
    </PagedList>
  </Page>
)

export default Outcomes
