/** The button that runs a batch's blocked rows again, with the limit of the whole batch in its dialog. */
import { useState } from "react"
import { ConfirmAction } from "../../actions/Actions.tsx"
import { api } from "../../data/api.ts"
import { amountOf, exactDollars, microsOf } from "../../data/money.ts"
import { AmountField } from "../../parts/Field.tsx"
import { Money } from "../../parts/Values.tsx"
import type { Batch } from "./useBatch.ts"

export const Retry = ({ batch }: { readonly batch: Batch }) => {
  const { id, rows, charged, max_total } = batch
  const [typed, setTyped] = useState<string | null>(null)
  const limit = (typed ?? max_total ?? "").trim()
  const left = (microsOf(limit) ?? 0n) - (microsOf(charged) ?? 0n)
  const count = `${rows.blocked.toLocaleString("en")} blocked ${rows.blocked === 1 ? "row" : "rows"}`
  return (
    <ConfirmAction
      send={() => api.batches.retry({ params: { batch_id: id }, payload: { max_total: limit } })}
      changes={["batch"]}
      word={`Run ${count} again`}
      buttonLook="primary"
      confirm={`Run ${count}${left > 0n ? ` for at most ${exactDollars(amountOf(left))}` : ""}`}
      cancel="Leave them blocked"
      look="primary"
      disabled={left <= 0n}
    >
      <p>
        They run in this batch, and share its limit. Rows that ended otherwise are not run again.{" "}
        <Money amount={charged} /> is charged so far.
      </p>
      <AmountField
        label="Limit of the whole batch in USD"
        name="max_total"
        required
        pattern="\d{1,7}(\.\d{1,6})?"
        value={typed ?? max_total ?? ""}
        onChange={(event) => setTyped(event.target.value)}
        hint="With what is charged already. If the limit blocked the rows, raise it."
        className="max-w-72"
      />
    </ConfirmAction>
  )
}
