/**
 * Runs as rows of equal height, of which only those in sight are on the page: a hundred thousand scroll like fifty.
 *
 * It is a table for screen readers, with the number of all rows. More are read as the end comes near.
 */
import { useWindowVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef, useState } from "react"
import { useGo } from "../../data/address.ts"
import { useKeys } from "../../data/keys.ts"
import { duration } from "../../data/time.ts"
import { Link } from "../../parts/Link.tsx"
import { Money } from "../../parts/Money.tsx"
import { Status } from "../../parts/Status.tsx"
import { Time } from "../../parts/Time.tsx"
import type { ListedRun } from "./useRuns.ts"

const rowPixels = 36
const overscan = 12
/** The next page is read when so many rows are left. */
const aheadRows = 60

const grid =
  "grid grid-cols-[minmax(9rem,2fr)_8rem_minmax(6rem,1fr)_6rem_6rem_5.5rem] max-lg:grid-cols-[minmax(8rem,2fr)_8rem_6rem_5rem] max-sm:grid-cols-[minmax(0,1fr)_7rem_5.5rem] items-center gap-3 px-3"

const nameOf = ({ capability, endpoint, provider }: ListedRun) => capability ?? `${provider ?? ""} ${endpoint ?? ""}`

const Row = ({
  run,
  index,
  isCurrent
}: {
  readonly run: ListedRun
  readonly index: number
  readonly isCurrent: boolean
}) => (
  <div
    role="row"
    aria-rowindex={index + 2}
    aria-current={isCurrent ? "true" : undefined}
    className={`${grid} h-9 border-b border-line hover:bg-hover ${isCurrent ? "bg-accent-soft" : ""}`}
  >
    <span role="cell" className="truncate font-medium">
      <Link to={`/runs/${run.run_id}`} className="hover:underline" title={run.run_id}>
        {nameOf(run)}
      </Link>
    </span>
    <span role="cell" className="flex items-center">
      <Status status={run.status} />
    </span>
    <span role="cell" className="truncate text-muted max-lg:hidden">
      {run.provider ?? ""}
    </span>
    <span role="cell" className="text-right max-lg:hidden">
      {run.done ? duration(run.timing.duration_ms) : ""}
    </span>
    <span role="cell" className="text-right">
      {run.billing.charged === null ? "" : <Money amount={run.billing.charged} />}
    </span>
    <span role="cell" className="text-right text-muted max-sm:hidden">
      <Time at={run.created_at} short />
    </span>
  </div>
)

const Head = () => (
  <div role="row" aria-rowindex={1} className={`${grid} h-8 border-b border-line bg-sunken font-medium text-muted`}>
    <span role="columnheader">Capability</span>
    <span role="columnheader">Status</span>
    <span role="columnheader" className="max-lg:hidden">
      Provider
    </span>
    <span role="columnheader" className="text-right max-lg:hidden">
      Took
    </span>
    <span role="columnheader" className="text-right">
      Charged
    </span>
    <span role="columnheader" className="text-right max-sm:hidden">
      Ago
    </span>
  </div>
)

export const RunTable = ({
  items,
  more,
  loadMore
}: {
  readonly items: ReadonlyArray<ListedRun>
  readonly more: boolean
  readonly loadMore: () => void
}) => {
  const box = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState(-1)
  const go = useGo()
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => rowPixels,
    overscan,
    scrollMargin: box.current?.offsetTop ?? 0
  })
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (more && last >= items.length - aheadRows) loadMore()
  }, [last, items.length, more, loadMore])
  const move = (steps: number) => {
    const next = Math.min(items.length - 1, Math.max(0, at + steps))
    setAt(next)
    rows.scrollToIndex(next, { align: "auto" })
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const run = items[at]
      if (run !== undefined) go(`/runs/${run.run_id}`)
    }
  })
  return (
    <div
      role="table"
      aria-label="Runs"
      aria-rowcount={more ? -1 : items.length + 1}
      className="overflow-hidden rounded border border-line text-small"
    >
      <Head />
      <div ref={box} role="rowgroup" className="relative" style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const run = items[index]
          return run === undefined ? null : (
            <div
              key={run.run_id}
              role="presentation"
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start - rows.options.scrollMargin}px)` }}
            >
              <Row run={run} index={index} isCurrent={index === at} />
            </div>
          )
        })}
      </div>
    </div>
  )
}
