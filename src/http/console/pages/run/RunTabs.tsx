/** The parts of a run that are too long for the page: input, result, ledger, events and receipt. */
import { InputTab, RawTab, ResultTab } from "./DataTabs.tsx"
import { EventsTab } from "./EventsTab.tsx"
import { LedgerTab } from "./LedgerTab.tsx"
import { ReceiptTab } from "./ReceiptTab.tsx"
import { Tabs } from "./Tabs.tsx"
import type { useDetails } from "./useDetails.ts"
import type { Run } from "./useRun.ts"

export const RunTabs = ({ run, query }: { readonly run: Run; readonly query: ReturnType<typeof useDetails> }) => (
  <Tabs
    label="Parts of the run"
    initial="Result"
    tabs={[
      { name: "Input", content: <InputTab run={run} query={query} /> },
      { name: "Result", content: <ResultTab run={run} /> },
      { name: "Raw", content: <RawTab run={run} /> },
      { name: "Ledger", content: <LedgerTab query={query} /> },
      { name: "Events", content: <EventsTab run_id={run.run_id} /> },
      { name: "Receipt", content: <ReceiptTab run={run} /> }
    ]}
  />
)
