/** The latest runs. Activity has all of them. */
import { useRef } from "react"
import { api, useRead } from "../../data/api.ts"
import { refreshSoon, useLive } from "../../data/live.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { Loaded, Panel, RowLink } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { Money } from "../../parts/Values.tsx"

const shown = 8

const columns = columnsOf("ListedRun", {
  run_id: ({ run_id, capability, endpoint, subject }) => (
    <span className="flex min-w-0 flex-wrap gap-x-2">
      <RowLink to={`/runs/${run_id}`}>{capability ?? endpoint}</RowLink>
      <span className="max-w-100 truncate text-muted max-sm:max-w-32">{subject}</span>
    </span>
  ),
  "billing.charged": ({ billing }) => <Money amount={billing.charged ?? "0"} />
})

/** One request for all of Home: the first steps ask only whether there is a run. */
export const useLatest = () => useRead(["runs", "latest"], () => api.runs.list({ query: { limit: shown } }))

/** Rows don't move while the pointer is on them. What arrives meanwhile is read when it leaves. */
const useHold = () => {
  const isOn = useRef(false)
  const waits = useRef(false)
  const isHeld = () => {
    waits.current ||= isOn.current
    return isOn.current
  }
  const hold = (isOver: boolean) => {
    isOn.current = isOver
    if (isOver || !waits.current) return
    waits.current = false
    refreshSoon("runs")
  }
  return { isHeld, hold }
}

export const Latest = () => {
  const runs = useLatest()
  const { isHeld, hold } = useHold()
  useLive(({ type }) => {
    if (type.startsWith("run.") && !isHeld()) refreshSoon("runs")
  })
  return (
    <Loaded query={runs} skeleton={null}>
      {({ items }) =>
        items.length === 0 ? null : (
          <Panel title="Latest runs">
            <div onPointerEnter={() => hold(true)} onPointerLeave={() => hold(false)}>
              <DataTable label="Latest runs" rows={items} columns={columns} toOf={({ run_id }) => `/runs/${run_id}`} />
            </div>
          </Panel>
        )
      }
    </Loaded>
  )
}
