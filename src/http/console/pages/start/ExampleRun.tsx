/** A run as a picture for people who are signed out: the request, which provider delivered, and what became of the money. */
import { runCommand } from "../../running/request.ts"
import { CodeBlock, Money, Status } from "../../parts/Values.tsx"

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

export const ExampleRun = () => (
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
