/** Why this provider and why not the others: what was known when the route was chosen. */
import { Failed, Panel, Skeleton } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"
import { OfferTable } from "../../running/QuotePanel.tsx"
import { type Details, type OfRun, useDetails } from "./useRun.ts"

const routings: Readonly<Record<string, string>> = {
  auto: "",
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

export const Why = ({ run }: OfRun) => {
  const query = useDetails(run)
  const { data, error } = query
  const decision = data?.decision ?? null
  return (
    <Panel title="Why this provider">
      {run.routing_reason !== "" && <p className="break-words">{run.routing_reason}</p>}
      {data === undefined && error !== null && (
        <div className="mt-3">
          <Failed error={error} retry={() => void query.refetch()} />
        </div>
      )}
      {data === undefined && error === null && <Skeleton lines={3} />}
      {data !== undefined && decision === null && (
        <p className="mt-2 text-muted">The run was erased, and with it the providers that were considered.</p>
      )}
      {decision !== null && (
        <>
          {run.reused_from === undefined && (routings[decision.routing] ?? "") !== "" && (
            <p className="mt-2 text-muted">{routings[decision.routing]}</p>
          )}
          {decision.max_cost !== null && (
            <p className="mt-2 text-muted">
              No call could cost more than <Money amount={decision.max_cost} />.
            </p>
          )}
          {decision.max_total !== null && (
            <p className="mt-2 text-muted">
              All attempts together could cost <Money amount={decision.max_total} /> at most.
            </p>
          )}
          {decision.accept !== undefined && (
            <p className="mt-2 break-words text-muted">A match had to be: {acceptedWords(decision.accept)}.</p>
          )}
          {decision.offers.length > 0 && (
            <div className="mt-3">
              <OfferTable
                label="Providers that were considered"
                offers={decision.offers.map(({ provider, price, health, excluded_because }) => ({
                  provider,
                  price,
                  success: health?.success_rate ?? null,
                  latency_ms: health?.latency_ms_p50 ?? null,
                  excluded_because
                }))}
              />
            </div>
          )}
        </>
      )}
    </Panel>
  )
}
