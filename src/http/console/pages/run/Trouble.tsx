/** Why a run did not succeed, the control that blocked it, and what to do next. */
import { Status } from "../../parts/Status.tsx"
import type { Run } from "./useRun.ts"

/** What each control is called, and the command that changes it. */
const known: Readonly<Record<string, readonly [name: string, command: string]>> = {
  daily_spend_guard: ["the daily limit", "rungate spend-guard set"],
  per_run_limit: ["the limit per run", "rungate spend-guard set"],
  key_budget: ["the key's budget", "rungate keys update --budget"],
  batch_max_total: ["the batch's limit", "rungate batch --max-total"]
}

export const Trouble = ({ run }: { readonly run: Run }) => {
  const { error, controls = [], hints } = run
  if (error === undefined && hints.length === 0) return null
  return (
    <section aria-label="What happened" className="rounded border border-line p-4">
      {error !== undefined && (
        <p className="flex flex-wrap items-start gap-x-3 gap-y-1">
          <Status status={error.code === "outcome_unknown" ? "outcome_unknown" : run.status} />
          <span className="min-w-0 break-words">{error.message}</span>
          <code className="font-mono text-small text-muted">{error.code}</code>
        </p>
      )}
      {controls.length > 0 && (
        <ul className="mt-2 space-y-1">
          {controls.map(({ control, manage }) => (
            <li key={control}>
              Change {known[control]?.[0] ?? control} with{" "}
              <code className="font-mono text-small break-all">{known[control]?.[1] ?? manage}</code>
            </li>
          ))}
        </ul>
      )}
      {hints.length > 0 && (
        <ul className="mt-2 list-disc space-y-1 pl-5 text-muted">
          {hints.map((hint) => (
            <li key={hint} className="break-words">
              {hint}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
