/** The button that runs a batch's blocked rows again, with the limit of the whole batch in its dialog. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { onForm } from "../../account/forms.ts"
import { api, queries } from "../../data/api.ts"
import { amountOf, exactDollars, microsOf } from "../../data/money.ts"
import { Button } from "../../parts/Button.tsx"
import { Dialog } from "../../parts/Dialog.tsx"
import { Field, FormProblem, problemOf } from "../../parts/Field.tsx"
import { Money } from "../../parts/Money.tsx"
import type { Batch } from "./useBatch.ts"

export const Retry = ({ batch }: { readonly batch: Batch }) => {
  const { id, rows, charged, max_total } = batch
  const [open, setOpen] = useState(false)
  const [typed, setTyped] = useState<string | null>(null)
  const limit = (typed ?? max_total ?? "").trim()
  const left = (microsOf(limit) ?? 0n) - (microsOf(charged) ?? 0n)
  const retry = useMutation({
    mutationFn: () => api.batches.retry({ params: { batch_id: id }, payload: { max_total: limit } }),
    onSuccess: () => setOpen(false),
    onSettled: () => queries.invalidateQueries({ queryKey: ["batch", id] })
  })
  const count = `${rows.blocked.toLocaleString("en")} blocked ${rows.blocked === 1 ? "row" : "rows"}`
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        Run {count} again
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={`Run ${count} again?`}>
        <form onSubmit={onForm(() => retry.mutate())} className="space-y-4">
          <p>
            They run in this batch, and share its limit. Rows that ended otherwise are not run again.{" "}
            <Money amount={charged} /> is charged so far.
          </p>
          <Field
            label="Limit of the whole batch in USD"
            name="max_total"
            inputMode="decimal"
            required
            pattern="\d{1,7}(\.\d{1,6})?"
            value={typed ?? max_total ?? ""}
            onChange={(event) => setTyped(event.target.value)}
            hint="With what is charged already. If the limit blocked the rows, raise it."
            problem={problemOf(retry.error, "max_total")}
            className="max-w-72"
          />
          <FormProblem error={retry.error} />
          <div className="flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>Leave them blocked</Button>
            <Button type="submit" look="primary" busy={retry.isPending} disabled={left <= 0n}>
              Run {count}
              {left > 0n && ` for at most ${exactDollars(amountOf(left))}`}
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  )
}
