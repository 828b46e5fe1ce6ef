/** What this service is, for people who are signed out, with the ways in. */
import { lazy, Suspense } from "react"
import { useService } from "../../data/session.ts"
import { ButtonLink, OutLink, useTitle } from "../../parts/Page.tsx"
import { CodeBlock, Money, Status } from "../../parts/Values.tsx"
import { runCommand } from "../../running/request.ts"

/** As the sandbox runs the command above it. */
const attempts: ReadonlyArray<readonly [provider: string, status: string]> = [
  ["leadmagic", "no_match"],
  ["hunter", "succeeded"]
]
const amounts: ReadonlyArray<readonly [word: string, amount: string, look: string]> = [
  ["held", "0.0468", "border border-dashed border-line-strong"],
  ["charged", "0.012", "bg-accent"],
  ["released", "0.0348", "border border-line-strong bg-grey-soft"]
]

const ExampleRun = () => (
  <figure
    aria-label="An example of a run"
    className="min-w-0 space-y-3 rounded border border-line bg-panel p-4 shadow-float"
  >
    <CodeBlock label="the request of the example" text={runCommand(location.origin)} />
    <div className="flex flex-wrap items-center justify-between gap-2">
      <code className="font-mono font-semibold">email.find</code>
      <Status status="succeeded" />
    </div>
    <code className="block font-mono text-small text-muted">ada.lovelace@example.com</code>
    <div aria-hidden="true" className="flex h-3 overflow-hidden rounded border border-dashed border-line-strong">
      <div className="w-1/4 bg-accent" />
      <div className="flex-1 bg-grey-soft" />
    </div>
    <dl className="flex flex-wrap gap-x-5 gap-y-1 text-small">
      {amounts.map(([word, amount, look]) => (
        <div key={word} className="flex items-center gap-1.5">
          <span aria-hidden="true" className={`h-2.5 w-2.5 rounded-sm ${look}`} />
          <dt className="text-muted">{word}</dt>
          <dd className="font-semibold">
            <Money amount={amount} />
          </dd>
        </div>
      ))}
    </dl>
    <ol className="space-y-1 border-t border-line pt-3 text-small">
      {attempts.map(([provider, status]) => (
        <li key={provider} className="flex justify-between gap-2">
          <span>{provider}</span>
          <Status status={status} />
        </li>
      ))}
    </ol>
  </figure>
)

const Offer = lazy(() => import("./Offer.tsx"))

const signUpNote = {
  open: null,
  invite: "Sign-up here is by invitation. Ask the operator of this service for a link.",
  closed: "Sign-up is closed here. Ask the operator of this service for an account."
} as const

const facts: ReadonlyArray<readonly [string, string]> = [
  ["See the price first", "A quote names the price of each provider, and the most that a run can cost."],
  [
    "Pay for what was delivered",
    "A run holds money, charges what it used, and releases the rest. The ledger shows each step."
  ],
  ["Set limits", "Per run, per day, per key and per batch. A run that would exceed one does not start."],
  ["Know why", "Each run says which provider was chosen, which were left out, and what each attempt did."]
]

export const Start = () => {
  const service = useService().data
  useTitle("One API for data and outreach")
  const note = service === undefined ? null : signUpNote[service.sign_up]
  return (
    <>
      <div className="grid items-center gap-8 lg:grid-cols-2">
        <div>
          <h1 className="text-[2rem] leading-10 font-semibold text-balance">
            One API and one prepaid wallet for data and outreach providers
          </h1>
          <p className="mt-4 text-muted">
            Find and verify e-mail addresses, enrich people and companies, send messages. You call one API, and pay per
            run from one wallet.
          </p>
          {service?.environment === "test" && (
            <p className="mt-3 text-amber">
              This service is a sandbox: providers and payments are simulated, and no money is real.
            </p>
          )}
          <div className="mt-6 flex flex-wrap gap-3">
            <ButtonLink to="/sign-in" look="primary">
              Sign in
            </ButtonLink>
            {service?.sign_up === "open" && <ButtonLink to="/sign-up">Sign up</ButtonLink>}
          </div>
          {note !== null && <p className="mt-3 text-muted">{note}</p>}
        </div>
        <ExampleRun />
      </div>
      <dl className="mt-10 grid gap-6 sm:grid-cols-2 lg:grid-cols-4">
        {facts.map(([title, text]) => (
          <div key={title}>
            <dt className="font-semibold">{title}</dt>
            <dd className="mt-1 text-muted">{text}</dd>
          </div>
        ))}
      </dl>
      <Suspense fallback={null}>
        <Offer />
      </Suspense>
      <p className="mt-10 text-muted">
        For programs: the <OutLink href="/docs">docs</OutLink>, the <OutLink href="/docs/api">API reference</OutLink>,
        the <OutLink href="/openapi.json">OpenAPI document</OutLink>, and tools for AI agents (MCP) at <code>/mcp</code>
        .
      </p>
    </>
  )
}
