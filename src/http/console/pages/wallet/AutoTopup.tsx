/** The automatic top-up: when it charges, how much, and why the last charge failed. */
import { useQuery } from "@tanstack/react-query"
import { TriangleAlert } from "lucide-react"
import type { AnswerOf } from "../../../client/Browser.ts"
import { ActionForm } from "../../actions/Actions.tsx"
import { textIn, useAction } from "../../actions/useAction.ts"
import { api, queries } from "../../data/api.ts"
import { exactDollars, microsOf } from "../../data/money.ts"
import { useMay } from "../../data/session.ts"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { AmountField, problemOf } from "../../parts/Field.tsx"
import { Loaded, Panel } from "../../parts/Page.tsx"

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
  const save = useAction(
    (form: FormData) =>
      api.topups.setAutoTopup({
        payload: {
          enabled: textIn(form, "enabled") !== "",
          threshold: orZero(textIn(form, "threshold")),
          amount: orZero(textIn(form, "amount"))
        }
      }),
    { says: "The automatic top-up is saved.", after: (saved) => queries.setQueryData(["topups"], saved) }
  )
  const problem = problemOf(save.error, "enabled")
  return (
    <ActionForm
      action={save}
      submit="Save the automatic top-up"
      look="plain"
      denied={may ? null : "An owner or an admin of the organization can change it."}
      saved={
        save.data?.enabled === true
          ? `Saved: ${exactDollars(save.data.amount)} is charged when the balance is below ${exactDollars(save.data.threshold)}.`
          : "Saved: nothing is charged automatically."
      }
    >
      <Checkbox
        name="enabled"
        value="yes"
        defaultChecked={setting.enabled}
        disabled={!may}
        label="Charge the saved payment method when the balance is low"
        hint="One charge at a time, up to the service's daily maximum, and none within an hour after a decline."
      />
      {problem !== null && <p className="text-small text-red">{problem}</p>}
      <div className="flex flex-wrap items-start gap-3">
        <AmountField
          label="When the balance is below, in USD"
          name="threshold"
          pattern="\d{1,7}(\.\d{1,6})?"
          defaultValue={typed(setting.threshold)}
          disabled={!may}
          className="w-full max-w-72"
        />
        <AmountField
          label="Charge, in USD"
          name="amount"
          pattern="\d{1,7}(\.\d{1,2})?"
          defaultValue={typed(setting.amount)}
          disabled={!may}
          className="w-full max-w-72"
        />
      </div>
    </ActionForm>
  )
}

export const AutoTopup = () => {
  const may = useMay("topups.setAutoTopup")
  return (
    <Panel title="Automatic top-up">
      <Loaded query={useAutoTopup()}>{(setting) => <Form setting={setting} may={may} />}</Loaded>
    </Panel>
  )
}
