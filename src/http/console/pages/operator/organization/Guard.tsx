/** The spend guard of an organization: an operator may raise, lower and remove its limits. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { AnswerOf } from "../../../../client/Browser.ts"
import { onForm, textIn } from "../../../account/forms.ts"
import { api } from "../../../data/api.ts"
import { exactDollars } from "../../../data/money.ts"
import { operatorChanged } from "../../../data/operator.ts"
import { announce } from "../../../parts/Announcer.tsx"
import { Button } from "../../../parts/Button.tsx"
import { Field, problemOf } from "../../../parts/Field.tsx"
import { Money } from "../../../parts/Money.tsx"
import { Panel } from "../../../parts/Page.tsx"
import { Ask } from "../Ask.tsx"

interface Limits {
  readonly per_run_limit: string | null
  readonly daily_limit: string | null
}

const limitIn = (form: FormData, name: string): string | null => {
  const text = textIn(form, name)
    .trim()
    .replace(/^\$\s*/, "")
  return text === "" ? null : text
}
const words = (limit: string | null) => (limit === null ? "no limit" : exactDollars(limit))

export const Guard = ({ detail }: { readonly detail: AnswerOf<"operatorOrganizations", "get"> }) => {
  const { org_id, name, guard } = detail
  const [asked, setAsked] = useState<Limits | null>(null)
  const set = useMutation({
    mutationFn: (payload: Limits) => api.operatorOrganizations.setGuard({ params: { org_id }, payload }),
    onSuccess: () => {
      announce("The limits are set.")
      setAsked(null)
      operatorChanged()
    }
  })
  const amount = {
    inputMode: "decimal",
    pattern: "\\$?\\s*\\d{1,9}(\\.\\d{1,6})?",
    className: "w-full max-w-40"
  } as const
  return (
    <Panel title="Spend guard">
      <p className="mb-3 text-muted">
        <Money amount={guard.spent_today} /> spent today (UTC). An empty field is no limit.
      </p>
      <form
        key={`${guard.per_run_limit} ${guard.daily_limit}`}
        onSubmit={onForm((form) => {
          set.reset()
          setAsked({ per_run_limit: limitIn(form, "per_run_limit"), daily_limit: limitIn(form, "daily_limit") })
        })}
        className="space-y-4"
      >
        <div className="flex flex-wrap gap-4">
          <Field
            label="Per run, in USD"
            name="per_run_limit"
            defaultValue={guard.per_run_limit ?? ""}
            problem={problemOf(set.error, "per_run_limit")}
            {...amount}
          />
          <Field
            label="Per day, in USD"
            name="daily_limit"
            defaultValue={guard.daily_limit ?? ""}
            problem={problemOf(set.error, "daily_limit")}
            {...amount}
          />
        </div>
        <Button type="submit">Change the limits…</Button>
      </form>
      {asked !== null && (
        <Ask
          open
          title={`Change the limits of ${name}?`}
          action="Change the limits"
          busy={set.isPending}
          error={set.error}
          onConfirm={() => set.mutate(asked)}
          onClose={() => setAsked(null)}
        >
          <p>
            Per run: from {words(guard.per_run_limit)} to {words(asked.per_run_limit)}. Per day: from{" "}
            {words(guard.daily_limit)} to {words(asked.daily_limit)}.
          </p>
          <p>Runs above a limit are blocked at once.</p>
        </Ask>
      )}
    </Panel>
  )
}
