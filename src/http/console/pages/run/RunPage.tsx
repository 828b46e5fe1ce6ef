/** One run: what it cost, which providers were called and why, and its result. */
import { useEffect, useRef, useState } from "react"
import { ActionButton } from "../../actions/Actions.tsx"
import { useFilters, useGo, useParam } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { duration } from "../../data/time.ts"
import { Dialog } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { CopyMenu } from "../../parts/Menu.tsx"
import { Button, ButtonLink, Denied, LoadedPage, Page } from "../../parts/Page.tsx"
import { Id, Status, Time } from "../../parts/Values.tsx"
import { QuotePanel } from "../../running/QuotePanel.tsx"
import { commandsOf, type Copied } from "../../running/commands.ts"
import {
  capabilityPage,
  endpointPage,
  isRunBody,
  nameOf,
  type RunBody,
  runWord,
  withCap
} from "../../running/request.ts"
import { useQuote, useStart } from "../../running/useQuote.ts"
import { Waits } from "../approvals/Decide.tsx"
import { Attempts, Why } from "./Attempts.tsx"
import { EventsTab, InputTab, LedgerTab, RawTab, ReceiptTab, ResultTab } from "./DataTabs.tsx"
import { MoneyBar } from "./MoneyBar.tsx"
import { Trouble } from "./Result.tsx"
import { type Tab, Tabs } from "./Tabs.tsx"
import { Warranty } from "./Warranty.tsx"
import { type Details, type OfRun, useDetails, useRun } from "./useRun.ts"

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

const RunAgain = ({ details }: { readonly details: Details | undefined }) => {
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

const first = "Result"

/** The open tab. A link to a tab also brings it into sight; a click on a tab does not move the page. */
const useTab = (tabs: ReadonlyArray<Tab>) => {
  const [{ tab = "" }, change] = useFilters()
  const box = useRef<HTMLDivElement>(null)
  const chosen = useRef("")
  useEffect(() => {
    if (tab !== chosen.current) box.current?.scrollIntoView({ block: "nearest" })
    chosen.current = tab
  }, [tab])
  const onOpen = (name: string) => {
    chosen.current = name === first ? "" : name.toLowerCase()
    change({ tab: chosen.current }, { stay: true })
  }
  return { open: tabs.find(({ name }) => name.toLowerCase() === tab)?.name ?? first, onOpen, box }
}

const RunTabs = ({ run }: OfRun) => {
  const tabs = [
    { name: "Input", content: <InputTab run={run} /> },
    { name: first, content: <ResultTab run={run} /> },
    { name: "Raw", content: <RawTab run={run} /> },
    { name: "Ledger", content: <LedgerTab run={run} /> },
    { name: "Events", content: <EventsTab run_id={run.run_id} /> },
    { name: "Receipt", content: <ReceiptTab run={run} /> }
  ]
  const { open, onOpen, box } = useTab(tabs)
  return (
    <div ref={box}>
      <Tabs label="Parts of the run" tabs={tabs} open={open} onOpen={onOpen} />
    </div>
  )
}

const copiesOf = (run_id: string, details: Details | undefined): ReadonlyArray<Copied> => {
  const address = location.origin
  const { request, billing } = details ?? {}
  return [
    // An erased run can only be read.
    ...(isRunBody(request) ? commandsOf(request, { address, cap: billing?.held ?? billing?.quoted ?? "0" }) : []),
    ["Read it with curl", `curl -s ${address}/v1/runs/${run_id} -H "Authorization: Bearer $RUNGATE_API_KEY"`],
    ["Read it with the command", `rungate runs get ${run_id}`],
    ["Address of this page", `${address}/runs/${run_id}`]
  ]
}

const Actions = ({ run }: OfRun) => {
  const details = useDetails(run).data
  const may = useMay("runs.run")

  return (
    <>
      {run.stoppable && may && (
        <ActionButton send={() => api.runs.cancel({ params: { run_id: run.run_id } })} changes={["run"]} look="danger">
          Cancel the run
        </ActionButton>
      )}
      <CopyMenu texts={copiesOf(run.run_id, details)} />
      {run.done && <RunAgain details={details} />}
      <Denied operation="runs.run" />
    </>
  )
}

const Shown = ({ run }: OfRun) => (
  <Page
    title={nameOf(run)}
    actions={<Actions run={run} />}
    lead={
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <Status status={run.status} large />
        <Id id={run.run_id} what="the run's id" />
        <Time at={run.created_at} />
        {run.done && <span>{duration(run.timing.duration_ms)}</span>}
      </div>
    }
  >
    {run.approval !== undefined && <Waits run={run} />}
    <Trouble run={run} />
    <MoneyBar run={run} />
    <Attempts run={run} />
    <Why run={run} />
    <Warranty run={run} />
    <RunTabs key={run.run_id} run={run} />
  </Page>
)

const RunPage = () => <LoadedPage query={useRun(useParam("run_id"))}>{(data) => <Shown run={data} />}</LoadedPage>

export default RunPage
