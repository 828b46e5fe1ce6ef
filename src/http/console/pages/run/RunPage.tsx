/** One run: what it cost, which providers were called and why, and its result. */
import { useEffect, useRef } from "react"
import { ActionButton } from "../../actions/Actions.tsx"
import { useFilters, useParam } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { duration } from "../../data/time.ts"
import { CopyMenu } from "../../parts/Menu.tsx"
import { Denied, LoadedPage, Page } from "../../parts/Page.tsx"
import { Id, Status, Time } from "../../parts/Values.tsx"
import { commandsOf, type Copied } from "../../running/commands.ts"
import { isRunBody, nameOf } from "../../running/request.ts"
import { Waits } from "../approvals/Decide.tsx"
import { Attempts } from "./Attempts.tsx"
import { InputTab, LedgerTab, RawTab, ResultTab } from "./DataTabs.tsx"
import { EventsTab } from "./EventsTab.tsx"
import { MoneyBar } from "./MoneyBar.tsx"
import { ReceiptTab } from "./ReceiptTab.tsx"
import { Trouble } from "./Result.tsx"
import { RunAgain } from "./RunAgain.tsx"
import { type Tab, Tabs } from "./Tabs.tsx"
import { Why } from "./Why.tsx"
import { type Details, type OfRun, useDetails, useRun } from "./useRun.ts"
import { Warranty } from "./Warranty.tsx"

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

const RunPage = () => (
  <LoadedPage title="Run" query={useRun(useParam("run_id"))}>
    {(data) => <Shown run={data} />}
  </LoadedPage>
)

export default RunPage
