/** Runs the same request once more, after showing what it would cost now. */
import { useState } from "react"
import { useGo } from "../../data/address.ts"
import { useMay } from "../../data/session.ts"
import { exactDollars, microsOf } from "../../data/money.ts"
import { Button } from "../../parts/Button.tsx"
import { Dialog } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { QuotePanel } from "../../running/QuotePanel.tsx"
import { isRunBody, nameOf, type RunBody, withCap } from "../../running/request.ts"
import { useQuote } from "../../running/useQuote.ts"
import { useStart } from "../../running/useStart.ts"
import type { Details } from "./useDetails.ts"

export const runWord = (hold: string): string =>
  microsOf(hold) === 0n ? "Run, free of charge" : `Run for at most ${exactDollars(hold)}`

const Question = ({ body, onClose }: { readonly body: RunBody; readonly onClose: () => void }) => {
  const go = useGo()
  const { quote, error, isCurrent } = useQuote(body)
  const start = useStart((run_id) => {
    onClose()
    go(`/runs/${run_id}`)
  })
  return (
    <div className="space-y-4">
      <p>
        This makes a new run of <strong>{nameOf(body)}</strong> with the same request. If the run sends or changes
        something, that happens once more.
      </p>
      <QuotePanel quote={quote} error={error} isCurrent={isCurrent} />
      <FormProblem error={start.error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Don't run</Button>
        <Button
          look="primary"
          busy={start.isPending}
          disabled={quote === null || !isCurrent || quote.would === "block"}
          onClick={() => {
            if (quote !== null) start.mutate(withCap(body, quote.hold))
          }}
        >
          {quote === null ? "Run" : runWord(quote.hold)}
        </Button>
      </div>
    </div>
  )
}

export const RunAgain = ({ details }: { readonly details: Details | undefined }) => {
  const [isOpen, setOpen] = useState(false)
  const may = useMay("member")
  const body = details?.request
  if (!may || !isRunBody(body)) return null
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        Run again
      </Button>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title="Run again" wide>
        <Question body={body} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  )
}
