/** Runs the same request once more, after showing what it would cost now. */
import { useState } from "react"
import { useGo } from "../../data/address.ts"
import { useMay } from "../../data/session.ts"
import { Button, ButtonLink } from "../../parts/Page.tsx"
import { Dialog } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import {
  capabilityPage,
  endpointPage,
  isRunBody,
  nameOf,
  type RunBody,
  runWord,
  withCap
} from "../../running/request.ts"
import { QuotePanel } from "../../running/QuotePanel.tsx"
import { useQuote, useStart } from "../../running/useQuote.ts"
import type { Details } from "./useRun.ts"

/** The form of the capability or endpoint, with the request of this run. */
const formOf = ({ capability, provider, endpoint, method }: RunBody, run_id: string) =>
  typeof capability === "string"
    ? `${capabilityPage(capability)}?from=${run_id}`
    : `${endpointPage(provider ?? "", endpoint ?? "", method ?? "")}&from=${run_id}`

interface QuestionProps {
  readonly body: RunBody
  readonly run_id: string
  readonly onClose: () => void
}

const Question = ({ body, run_id, onClose }: QuestionProps) => {
  const go = useGo()
  const answer = useQuote(body)
  const { quote, isCurrent } = answer
  const start = useStart((next) => {
    onClose()
    go(`/runs/${next}`)
  })
  return (
    <div className="space-y-4">
      <p>
        This makes a new run of <strong>{nameOf(body)}</strong> with the same request. If the run sends or changes
        something, that happens once more.
      </p>
      <QuotePanel {...answer} />
      <FormProblem error={start.error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Don't run</Button>
        <ButtonLink to={formOf(body, run_id)}>Change the request first</ButtonLink>
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
  const may = useMay("runs.run")
  const body = details?.request
  if (!may || details === undefined || !isRunBody(body)) return null
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        Run again
      </Button>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title="Run again" wide>
        <Question body={body} run_id={details.run_id} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  )
}
