/** Queues and lanes: what waits for how long, and the commands that failed too often, with why and a retry. */
import { columnsOf } from "../../../lists/nouns.tsx"
import { Loaded, Page, Panel, Skeleton } from "../../../parts/Page.tsx"
import { SmallTable, TablePanel } from "../parts.tsx"
import { type QueuesState, secondsText, useQueues } from "../useQueues.ts"
import { DeadLetters } from "./DeadLetters.tsx"

const Lanes = ({ queues }: { readonly queues: QueuesState }) => (
  <Panel title="Lanes">
    <p className="mb-3 text-muted">
      A lane applies the commands of its wallets one after the other. Queues are on{" "}
      {queues.backend === "redis" ? "Redis" : "PostgreSQL"}; {queues.wake_ups} wake-ups wait.
    </p>
    <SmallTable
      label="Lanes"
      rows={queues.lanes}
      keyOf={({ lane }) => String(lane)}
      none="There are no lanes."
      columns={columnsOf("Lane", {
        oldest_seconds: ({ oldest_seconds: age }) => (age === null ? "–" : secondsText(age))
      })}
    />
  </Panel>
)

const Runs = ({ queues }: { readonly queues: QueuesState }) => (
  <TablePanel
    title="Open runs"
    label="Open runs"
    rows={queues.runs}
    keyOf={({ state }) => state}
    none="No run is open."
    columns={columnsOf("OpenRuns", { oldest_seconds: ({ oldest_seconds }) => secondsText(oldest_seconds) })}
  />
)

const Queues = () => {
  const queues = useQueues()
  return (
    <Page title="Queues">
      <DeadLetters />
      <Loaded query={queues} skeleton={<Skeleton lines={8} />}>
        {(data) => (
          <>
            <Runs queues={data} />
            <Lanes queues={data} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

export default Queues
