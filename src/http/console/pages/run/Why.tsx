/** Why this provider and why not the others: what was known when the route was chosen. */
import { Loaded, Panel } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"
import { OfferTable } from "../../running/QuotePanel.tsx"
import { type Details, type OfRun, useDetails } from "./useRun.ts"

const routings: Readonly<Record<string, string>> = {
  pinned: "The request names the provider, so no other was called.",
  no_fallback: "The request allows one provider only."
}

type Accept = NonNullable<NonNullable<Details["decision"]>["accept"]>

const acceptedWords = ({ fields, phone_type, max_age_days, agree }: Accept): string =>
  [
    ...(fields.length === 0 ? [] : [`with ${fields.join(", ")}`]),
    ...(phone_type === undefined ? [] : [`with a phone of type ${phone_type}`]),
    ...(max_age_days === undefined ? [] : [`at most ${max_age_days} days old`]),
    ...(agree === undefined ? [] : [`given alike by ${agree} providers, which are both charged`])
  ].join(", ")

const Decision = ({ decision, isReused }: { readonly decision: Details["decision"]; readonly isReused: boolean }) => {
  if (decision === null)
    return <p className="mt-2 text-muted">The run was erased, and with it the providers that were considered.</p>
  const { routing, max_cost, max_total, accept, offers } = decision
  const sentences = [
    isReused ? null : routings[routing],
    max_cost !== null && (
      <>
        No call could cost more than <Money amount={max_cost} />.
      </>
    ),
    max_total !== null && (
      <>
        All attempts together could cost <Money amount={max_total} /> at most.
      </>
    ),
    accept !== undefined && `A match had to be: ${acceptedWords(accept)}.`
  ]
  return (
    <>
      {sentences.map(
        (one, index) =>
          one && (
            <p key={index} className="mt-2 break-words text-muted">
              {one}
            </p>
          )
      )}
      {offers.length > 0 && (
        <div className="mt-3">
          <OfferTable
            label="Providers that were considered"
            offers={offers.map(({ health, ...offer }) => ({
              ...offer,
              success: health?.success_rate ?? null,
              latency_ms: health?.latency_ms_p50 ?? null
            }))}
          />
        </div>
      )}
    </>
  )
}

export const Why = ({ run }: OfRun) => (
  <Panel title="Why this provider">
    {run.routing_reason !== "" && <p className="break-words">{run.routing_reason}</p>}
    <Loaded query={useDetails(run)}>
      {({ decision }) => <Decision decision={decision} isReused={run.reused_from !== undefined} />}
    </Loaded>
  </Panel>
)
