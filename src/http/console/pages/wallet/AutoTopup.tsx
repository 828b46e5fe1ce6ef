/** The automatic top-up: when it charges, how much, and why the last charge failed. */
import { TriangleAlert } from "lucide-react"
import { type AnswerOf, api, queries, useRead } from "../../data/api.ts"
import { ActionForm, useAction } from "../../actions/Actions.tsx"
import { exactDollars } from "../../data/money.ts"
import { useDenied, useMay } from "../../data/session.ts"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../forms/PayloadFields.tsx"
import { Loaded, Panel } from "../../parts/Page.tsx"

type Setting = AnswerOf<"topups", "autoTopup">

const useAutoTopup = () => useRead(["topups"], () => api.topups.autoTopup({}), { staleTime: 30_000 })

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

const form = payloadForm("topups", "setAutoTopup")
const words = {
  enabled: {
    label: "Charge the saved payment method when the balance is low",
    hint: "One charge at a time, up to the service's daily maximum, and none within an hour after a decline."
  },
  threshold: { label: "When the balance is below, in USD" },
  amount: { label: "Charge, in USD" }
}

const Form = ({ setting, may }: { readonly setting: Setting; readonly may: boolean }) => {
  const save = useAction((sent: FormData) => api.topups.setAutoTopup({ payload: payloadIn(sent) }), {
    says: "The automatic top-up is saved.",
    after: (saved) => queries.setQueryData(["topups"], saved)
  })
  return (
    <ActionForm
      action={save}
      submit="Save the automatic top-up"
      look="plain"
      denied={useDenied("topups.setAutoTopup")}
      saved={
        save.data?.enabled === true
          ? `Saved: ${exactDollars(save.data.amount)} is charged when the balance is below ${exactDollars(save.data.threshold)}.`
          : "Saved: nothing is charged automatically."
      }
    >
      <PayloadFields form={form} words={words} before={setting} disabled={!may} />
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
