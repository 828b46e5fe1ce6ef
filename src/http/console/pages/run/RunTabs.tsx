/** The parts of a run that are too long for the page: input, result, ledger, events and receipt. The address has the open one. */
import { type ReactNode, useEffect, useRef } from "react"
import { useFilters } from "../../data/address.ts"
import { InputTab, LedgerTab, RawTab, ResultTab } from "./DataTabs.tsx"
import { EventsTab } from "./EventsTab.tsx"
import { ReceiptTab } from "./ReceiptTab.tsx"
import { Tabs } from "./Tabs.tsx"
import type { Run, useDetails } from "./useRun.ts"

const names = ["Input", "Result", "Raw", "Ledger", "Events", "Receipt"] as const
type Name = (typeof names)[number]
const first: Name = "Result"

/** The open tab. A link to a tab also brings it into sight; a click on a tab does not move the page. */
const useTab = () => {
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
  return { open: names.find((name) => name.toLowerCase() === tab) ?? first, onOpen, box }
}

export const RunTabs = ({ run, query }: { readonly run: Run; readonly query: ReturnType<typeof useDetails> }) => {
  const { open, onOpen, box } = useTab()
  const contents: Readonly<Record<Name, ReactNode>> = {
    Input: <InputTab run={run} query={query} />,
    Result: <ResultTab run={run} />,
    Raw: <RawTab run={run} />,
    Ledger: <LedgerTab query={query} />,
    Events: <EventsTab run_id={run.run_id} />,
    Receipt: <ReceiptTab run={run} />
  }
  return (
    <div ref={box}>
      <Tabs
        label="Parts of the run"
        tabs={names.map((name) => ({ name, content: contents[name] }))}
        open={open}
        onOpen={onOpen}
      />
    </div>
  )
}
