/** Why a run did not succeed, the control that blocked it, and what to do next. */
import { Bullets } from "../../lists/Facts.tsx"
import { Status } from "../../parts/Values.tsx"
import { ControlLinks } from "../../running/controls.tsx"
import type { Run } from "./useRun.ts"

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
      <ControlLinks controls={controls} code={error?.code} />
      {hints.length > 0 && <Bullets items={hints} className="mt-2 pl-5 text-muted" />}
    </section>
  )
}
