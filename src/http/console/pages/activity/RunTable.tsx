/**
 * Runs as rows of equal height, of which only those in sight are on the page: a hundred thousand scroll like fifty.
 *
 * It is a table for screen readers, with the number of all rows. More are read as the end comes near. A row is drawn once and costs little:
 * a whole screen of them is new in each frame of a fast scroll.
 */
import { useWindowVirtualizer } from "@tanstack/react-virtual"
import { memo, type MouseEvent, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react"
import { useGo, usePreload } from "../../data/address.ts"
import { useKeyNames } from "../../data/lists.ts"
import { duration, exactly, inShort, useNow } from "../../data/time.ts"
import { useKeys } from "../../data/keys.ts"
import { Money, Status } from "../../parts/Values.tsx"
import type { RunRow } from "./rows.ts"

const rowPixels = 36
const rowSize = () => rowPixels
/** Rows above and below the window. They are drawn in the frame that scrolls, so a few are enough. */
const overscan = 6
/** The next page is read when so many rows are left. Who has gone far goes on, so it is read earlier then. */
const aheadMax = 600
const aheadShare = 0.5

const grid =
  "grid grid-cols-[minmax(12rem,3fr)_8rem_minmax(5rem,1fr)_minmax(5rem,1fr)_5rem_5rem_4.5rem] max-lg:grid-cols-[minmax(8rem,2fr)_8rem_6rem_5rem] max-sm:grid-cols-[minmax(0,1fr)_6.5rem_4.5rem] items-center gap-3 px-3"

interface RowProps {
  readonly run: RunRow
  readonly keyName: string
  readonly index: number
  /** Pixels from the first row. */
  readonly top: number
  readonly isCurrent: boolean
  readonly ago: string
  readonly onOpen: (event: MouseEvent<HTMLAnchorElement>) => void
}

/** The link is a plain one: the router's has a dozen hooks, which took most of the time of a row. */
const Row = memo(({ run, keyName, index, top, isCurrent, ago, onOpen }: RowProps) => (
  <div
    role="row"
    aria-rowindex={index + 2}
    aria-current={isCurrent ? "true" : undefined}
    className={`${grid} absolute inset-x-0 top-0 h-9 border-b border-line hover:bg-hover ${isCurrent ? "bg-accent-soft" : ""}`}
    style={{ transform: `translateY(${top}px)` }}
  >
    <span role="cell" className="flex min-w-0 items-baseline gap-x-2 max-sm:flex-col">
      <a
        href={`/runs/${run.run_id}`}
        onClick={onOpen}
        className="max-w-full shrink-0 truncate font-medium hover:underline"
        title={run.run_id}
      >
        {run.name}
      </a>
      <span className="max-w-full min-w-0 truncate text-muted" title={run.subject}>
        {run.subject}
      </span>
    </span>
    <span role="cell" className="flex items-center">
      <Status status={run.status} />
    </span>
    <span role="cell" className="truncate text-muted max-lg:hidden">
      {run.provider}
    </span>
    <span role="cell" className="truncate text-muted max-lg:hidden">
      {keyName}
    </span>
    <span role="cell" className="text-right max-lg:hidden">
      {run.duration_ms === null ? "" : duration(run.duration_ms)}
    </span>
    <span role="cell" className="text-right">
      {run.charged === null ? "" : <Money amount={run.charged} />}
    </span>
    <span role="cell" className="text-right text-muted max-sm:hidden">
      <time dateTime={run.created_at} title={exactly(run.created_at)} className="whitespace-nowrap">
        {ago}
      </time>
    </span>
  </div>
))

const titles: ReadonlyArray<readonly [title: string, look: string]> = [
  ["Run", ""],
  ["Status", ""],
  ["Provider", "max-lg:hidden"],
  ["Key", "max-lg:hidden"],
  ["Took", "text-right max-lg:hidden"],
  ["Charged", "text-right"],
  ["Ago", "text-right max-sm:hidden"]
]

const Head = () => (
  <div role="row" aria-rowindex={1} className={`${grid} h-8 border-b border-line bg-sunken font-medium text-muted`}>
    {titles.map(([title, look]) => (
      <span key={title} role="columnheader" className={look}>
        {title}
      </span>
    ))}
  </div>
)

/** Pixels from the top of the page. Measured when the page changes its height, and not while it is drawn, which would lay it out twice. */
const useTop = (element: RefObject<HTMLElement | null>): number => {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const measure = () => setTop(element.current?.offsetTop ?? 0)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return top
}

/** Opens a link of the table without a page load, unless somebody wants it in another tab. */
const useOpen = () => {
  const go = useGo()
  return useCallback(
    (event: MouseEvent<HTMLAnchorElement>) => {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      go(event.currentTarget.getAttribute("href") ?? "/activity")
    },
    [go]
  )
}

interface RunTableProps {
  readonly items: ReadonlyArray<RunRow>
  /** Rows that have changed since they were read, by run. */
  readonly changed: ReadonlyMap<string, RunRow>
  readonly more: boolean
  readonly loadMore: () => void
  /** Whether the pointer is on the rows, so that none may move. */
  readonly onHold: (isOn: boolean) => void
}

export const RunTable = ({ items, changed, more, loadMore, onHold }: RunTableProps) => {
  const box = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState(-1)
  const now = useNow()
  const keyNames = useKeyNames(true)
  const go = useGo()
  const open = useOpen()
  const preload = usePreload()
  const scrollMargin = useTop(box)
  const rows = useWindowVirtualizer({ count: items.length, estimateSize: rowSize, overscan, scrollMargin })
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  const ahead = Math.min(aheadMax, items.length * aheadShare)
  useEffect(() => {
    if (more && last >= items.length - ahead) loadMore()
  }, [last, items.length, ahead, more, loadMore])
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
      <div
        ref={box}
        role="rowgroup"
        className="relative"
        style={{ height: rows.getTotalSize() }}
        onPointerEnter={() => {
          onHold(true)
          preload(`/runs/${items[0]?.run_id ?? ""}`)
        }}
        onPointerLeave={() => onHold(false)}
      >
        {shown.map(({ index, start }) => {
          const read = items[index]
          if (read === undefined) return null
          const run = read.done ? read : (changed.get(read.run_id) ?? read)
          return (
            <Row
              key={run.run_id}
              run={run}
              keyName={run.key_id === null ? "" : (keyNames.get(run.key_id) ?? "")}
              index={index}
              top={start - scrollMargin}
              isCurrent={index === at}
              ago={inShort(Date.parse(run.created_at), now)}
              onOpen={open}
            />
          )
        })}
      </div>
    </div>
  )
}
