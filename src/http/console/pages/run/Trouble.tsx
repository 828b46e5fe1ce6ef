/** Why a run did not succeed, the control that blocked it, and what to do next. */
import { TextLink } from "../../parts/Link.tsx"
import { Status } from "../../parts/Status.tsx"
import type { Run } from "./useRun.ts"

const words: Readonly<Record<string, string>> = {
  daily_spend_guard: "the daily limit",
  per_run_limit: "the limit per run",
  key_budget: "the key's budget",
  batch_max_total: "the batch's limit"
}

/** The console's page for a path of the API. */
export const pageOf = (manage: string): string => {
  if (manage.startsWith("/v1/api-keys")) return "/settings/keys"
  if (manage.startsWith("/v1/batches")) return manage.replace("/v1", "")
  return "/settings/guard"
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
              <TextLink to={pageOf(manage)}>Change {words[control] ?? control}</TextLink>
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
