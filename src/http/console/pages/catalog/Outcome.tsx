/** A run that was just started, in place: its status as it changes, what it cost, and its result. */
import { duration } from "../../data/time.ts"
import { ButtonLink, Loaded, Skeleton } from "../../parts/Page.tsx"
import { Money, Status } from "../../parts/Values.tsx"
import { Result, Trouble } from "../run/Result.tsx"
import { type Run, useRun } from "../run/useRun.ts"

const Summary = ({ run }: { readonly run: Run }) => {
  const { status, done, billing, provider, timing, run_id } = run
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <Status status={status} large />
        {done ? (
          <>
            <span>
              charged{" "}
              <strong>
                <Money amount={billing.charged ?? "0"} />
              </strong>
            </span>
            {provider !== null && status === "succeeded" && <span className="text-muted">by {provider}</span>}
            <span className="text-muted">{duration(timing.duration_ms)}</span>
          </>
        ) : (
          <span className="text-muted">
            at most <Money amount={billing.quoted} />. This page shows the result when the run ends.
          </span>
        )}
      </p>
      <ButtonLink to={`/runs/${run_id}`}>Open the run</ButtonLink>
    </div>
  )
}

export const Outcome = ({ run_id }: { readonly run_id: string }) => (
  <section aria-label="Result of the run" className="mt-6 space-y-4 border-t border-line pt-5">
    <Loaded query={useRun(run_id)} skeleton={<Skeleton lines={4} />}>
      {(run) => (
        <>
          <Summary run={run} />
          <Trouble run={run} />
          {run.result !== undefined && <Result run_id={run.run_id} result={run.result} />}
        </>
      )}
    </Loaded>
  </section>
)
