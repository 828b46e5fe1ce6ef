/** The automatic top-up: when it charges, how much, and why the last charge failed. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { TriangleAlert } from "lucide-react"
import { onForm, textIn } from "../../account/forms.ts"
import type { AnswerOf } from "../../../client/Browser.ts"
import { api, queries } from "../../data/api.ts"
import { exactDollars, microsOf } from "../../data/money.ts"
import { useMay } from "../../data/session.ts"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Field, FormProblem, problemOf } from "../../parts/Field.tsx"
import { Panel } from "../../parts/Page.tsx"
import { Loaded } from "../../parts/States.tsx"

type Setting = AnswerOf<"topups", "autoTopup">

const useAutoTopup = () =>
  useQuery({ queryKey: ["topups"], queryFn: () => api.topups.autoTopup({}), staleTime: 30_000 })

/** A banner, because runs are refused when the balance is spent and nothing charges any more. */
export const AutoTopupFailed = () => {
  const setting = useAutoTopup().data
  if (setting === undefined || setting.last_error === null) return null
  return (
    <section
      aria-label="The automatic top-up failed"
      className="flex items-start gap-2 rounded border border-red bg-red-soft p-4 text-red"
    >
      <TriangleAlert size={18} aria-hidden="true" className="mt-0.5 shrink-0" />
      <div className="min-w-0">
        <p className="font-medium">The last automatic top-up failed.</p>
        <p className="break-words">{setting.last_error}</p>
        <p className="mt-1">Top up by hand to go on. A new payment method is saved with the next checkout.</p>
      </div>
    </section>
  )
}

/** An amount as people type it. Empty for one that was never set. */
const typed = (amount: string) => (microsOf(amount) === 0n ? "" : amount)
const orZero = (text: string) => (text.trim() === "" ? "0" : text.trim())

const Form = ({ setting, may }: { readonly setting: Setting; readonly may: boolean }) => {
  const save = useMutation({
    mutationFn: (form: FormData) =>
      api.topups.setAutoTopup({
        payload: {
          enabled: textIn(form, "enabled") !== "",
          threshold: orZero(textIn(form, "threshold")),
          amount: orZero(textIn(form, "amount"))
        }
      }),
    onSuccess: (saved) => {
      queries.setQueryData(["topups"], saved)
      announce("The automatic top-up is saved.")
    }
  })
  return (
    <form onSubmit={onForm((form) => save.mutate(form))} className="space-y-4">
      <Checkbox
        name="enabled"
        value="yes"
        defaultChecked={setting.enabled}
        disabled={!may}
        label="Charge the saved payment method when the balance is low"
        hint="One charge at a time, up to the service's daily maximum, and none within an hour after a decline."
      />
      {problemOf(save.error, "enabled") !== null && (
        <p className="text-small text-red">{problemOf(save.error, "enabled")}</p>
      )}
      <div className="flex flex-wrap items-start gap-3">
        <Field
          label="When the balance is below, in USD"
          name="threshold"
          inputMode="decimal"
          pattern="\d{1,7}(\.\d{1,6})?"
          defaultValue={typed(setting.threshold)}
          disabled={!may}
          problem={problemOf(save.error, "threshold")}
          className="w-full max-w-72"
        />
        <Field
          label="Charge, in USD"
          name="amount"
          inputMode="decimal"
          pattern="\d{1,7}(\.\d{1,2})?"
          defaultValue={typed(setting.amount)}
          disabled={!may}
          problem={problemOf(save.error, "amount")}
          className="w-full max-w-72"
        />
      </div>
      <FormProblem error={save.error} />
      {save.isSuccess && (
        <p className="text-green">
          {save.data.enabled
            ? `Saved: ${exactDollars(save.data.amount)} is charged when the balance is below ${exactDollars(save.data.threshold)}.`
            : "Saved: nothing is charged automatically."}
        </p>
      )}
      {may ? (
        <Button type="submit" busy={save.isPending}>
          Save the automatic top-up
        </Button>
      ) : (
        <p className="text-muted">An owner or an admin of the organization can change it.</p>
      )}
    </form>
  )
}

export const AutoTopup = () => {
  const may = useMay("admin")
  return (
    <Panel title="Automatic top-up">
      <Loaded query={useAutoTopup()}>{(setting) => <Form setting={setting} may={may} />}</Loaded>
    </Panel>
  )
}
