/** The providers that were called, one after the other, on a line of time; and why those and not the others, by what was known then. */
import { duration } from "../../data/time.ts"
import { Loaded, Panel, TextLink } from "../../parts/Page.tsx"
import { Money, Status, statusBar, statusWord } from "../../parts/Values.tsx"
import { OfferTable } from "../../running/QuotePanel.tsx"
import { type Details, type OfRun, type Run, useDetails } from "./useRun.ts"

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

const begins = (attempts: Run["attempts"]) =>
  attempts.map((_one, index) => attempts.slice(0, index).reduce((sum, { duration_ms }) => sum + duration_ms, 0))

const Nobody = ({ run: { done, reused_from } }: { readonly run: Run }) => {
  if (reused_from === undefined)
    return <p className="text-muted">{done ? "No provider was called." : "No provider has answered yet."}</p>
  return (
    <p>
      No provider was called and nothing was charged. The result is that of{" "}
      <TextLink to={`/runs/${reused_from}`}>an earlier run</TextLink>.
    </p>
  )
}

/** The line of time that the bars below stand on. The words beside each bar say the same. */
const Scale = ({ total }: { readonly total: number }) => (
  <div aria-hidden="true" className="mb-1 grid grid-cols-[8rem_1fr] gap-3 text-small text-muted max-sm:grid-cols-1">
    <span className="max-sm:hidden" />
    <span className="flex justify-between">
      <span>0 ms</span>
      <span>{duration(Math.round(total / 2))}</span>
      <span>{duration(total)}</span>
    </span>
  </div>
)

export const Attempts = ({ run }: { readonly run: Run }) => {
  const { attempts } = run
  const starts = begins(attempts)
  const total = Math.max(1, run.timing.duration_ms, (starts.at(-1) ?? 0) + (attempts.at(-1)?.duration_ms ?? 0))
  return (
    <Panel title="Attempts" actions={<span className="text-small text-muted">{duration(total)} in total</span>}>
      {attempts.length === 0 ? (
        <Nobody run={run} />
      ) : (
        <>
          <Scale total={total} />
          <ol className="space-y-2">
            {attempts.map(({ provider, outcome, duration_ms, detail }, index) => (
              <li
                key={`${provider} ${index}`}
                className="grid grid-cols-[8rem_1fr] items-center gap-3 max-sm:grid-cols-1 max-sm:gap-1"
              >
                <span className="truncate font-medium">{provider}</span>
                <div>
                  <div className="relative h-6 rounded bg-sunken">
                    <div
                      className={`absolute inset-y-0 min-w-1 rounded ${statusBar(outcome)}`}
                      style={{
                        left: `${((starts[index] ?? 0) / total) * 100}%`,
                        width: `${(duration_ms / total) * 100}%`
                      }}
                      title={`${statusWord(outcome)}, ${duration(duration_ms)}`}
                    />
                  </div>
                  <p className="mt-1 flex flex-wrap items-center gap-x-3 text-small">
                    <Status status={outcome} />
                    <span className="text-muted">{duration(duration_ms)}</span>
                    {detail !== null && <span className="break-words text-muted">{detail}</span>}
                  </p>
                </div>
              </li>
            ))}
          </ol>
        </>
      )}
    </Panel>
  )
}
