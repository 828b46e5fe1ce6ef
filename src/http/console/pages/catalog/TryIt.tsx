/** Tries a capability or an endpoint: a form made from its schema, what it would cost, a button that says so, and the result below. */
import { type FormEvent, useEffect, useRef, useState } from "react"
import { useFilters } from "../../data/address.ts"
import { api, useRead } from "../../data/api.ts"
import { exactDollars } from "../../data/money.ts"
import { duration } from "../../data/time.ts"
import type { Draft } from "../../forms/draft.ts"
import { detailsOf, FormProblem } from "../../parts/Field.tsx"
import { CopyMenu } from "../../parts/Menu.tsx"
import { Allowed, Button, ButtonLink, Loaded, Panel, Skeleton } from "../../parts/Page.tsx"
import { announce, Money, Status } from "../../parts/Values.tsx"
import { QuotePanel } from "../../running/QuotePanel.tsx"
import { commandsOf } from "../../running/commands.ts"
import { runWord, withCap } from "../../running/request.ts"
import { useQuote, useStart } from "../../running/useQuote.ts"
import { Result, Trouble } from "../run/Result.tsx"
import { type Run, useRun } from "../run/useRun.ts"
import { RequestForm } from "./RequestForm.tsx"
import { exampleOf, type Inspected, optionsFrom, useForm } from "./useForm.ts"

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

const Outcome = ({ run_id }: { readonly run_id: string }) => (
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

interface TryItProps {
  readonly inspected: Inspected
  /** A request that the form begins with. */
  readonly initial: unknown
  readonly options: Draft
}

const TryIt = ({ inspected, initial, options }: TryItProps) => {
  const form = useForm(inspected, initial, options)
  const [run_id, setRun] = useState<string | null>(null)
  const [isPressed, setPressed] = useState(false)
  const outcome = useRef<HTMLDivElement>(null)
  const { body, isComplete } = form
  // An unfinished form would only be refused. Once somebody has pressed the button, the service says what is missing.
  const answer = useQuote(isComplete || isPressed ? body : null)
  const { quote, error, isCurrent, refresh } = answer
  const start = useStart((id) => {
    setRun(id)
    announce("The run has begun. Its result is below the form.")
    requestAnimationFrame(() => outcome.current?.scrollIntoView({ block: "nearest" }))
  })
  const { isError, reset } = start
  // What was wrong with the request before is not wrong with this one.
  useEffect(() => {
    if (isError) reset()
  }, [body])
  const offered = quote !== null && isCurrent && quote.would === "run" ? quote.hold : null
  const ask = () => {
    if (isPressed) refresh()
    setPressed(true)
  }
  const press = () => {
    if (offered !== null && body !== null) {
      setRun(null)
      return start.mutate(withCap(body, offered))
    }
    return ask()
  }
  // Enter in a field shows the price. Only the button, which names the amount, spends it.
  const submit = (event: FormEvent) => {
    event.preventDefault()
    ask()
  }
  const problems = new Map([...form.problems, ...detailsOf(error, start.error)])
  return (
    <Panel
      title="Try it"
      actions={<Button onClick={() => form.fill(exampleOf(inspected))}>Fill in the example</Button>}
    >
      <form noValidate onSubmit={submit} className="space-y-5">
        <RequestForm inspected={inspected} form={form} problems={problems} />
        <section aria-label="Quote" className="rounded border border-line bg-sunken p-4">
          {body === null ? (
            <p className="text-muted">Correct the fields above to see the price.</p>
          ) : !isComplete && !isPressed ? (
            <p className="text-muted">Fill in the required fields to see the price. A quote is free.</p>
          ) : (
            <QuotePanel {...answer} />
          )}
        </section>
        <p role="status" className="sr-only">
          {offered === null ? "" : `This run costs at most ${exactDollars(offered)}.`}
        </p>
        <FormProblem error={start.error} />
        <div className="flex flex-wrap items-center gap-2">
          <Allowed operation="runs.run">
            <Button
              look="primary"
              onClick={press}
              busy={start.isPending}
              disabled={quote?.would === "block" && isCurrent}
            >
              {start.isPending ? "Running" : offered !== null ? runWord(offered) : "Run"}
            </Button>
          </Allowed>
          {body !== null && quote !== null && (
            <CopyMenu texts={commandsOf(body, { address: location.origin, cap: quote.hold })} />
          )}
        </div>
      </form>
      {/* Under an error, a result would look like the one of the request that failed. */}
      <div ref={outcome}>
        {run_id !== null && error === null && start.error === null && <Outcome key={run_id} run_id={run_id} />}
      </div>
    </Panel>
  )
}

const useEarlier = (run_id: string) =>
  useRead(["run", run_id, "request"], async () => (await api.runs.details({ params: { run_id } })).request, {
    enabled: run_id !== "",
    staleTime: Number.POSITIVE_INFINITY,
    retry: false
  })

export const TryFrom = ({ inspected }: { readonly inspected: Inspected }) => {
  const [{ from = "" }] = useFilters()
  const earlier = useEarlier(from)
  if (from !== "" && earlier.isPending) return <Skeleton lines={6} height={24} />
  return (
    <>
      {from !== "" && earlier.data !== null && earlier.data !== undefined && (
        <p className="mb-3 text-muted">The form has the request of the run {from}. Change what you like.</p>
      )}
      {earlier.error !== null && (
        <p role="alert" className="mb-3 text-red">
          The request of the run {from} can't be read: {earlier.error.message}
        </p>
      )}
      <TryIt key={from} inspected={inspected} initial={earlier.data} options={optionsFrom(earlier.data)} />
    </>
  )
}
