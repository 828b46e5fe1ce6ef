/** The runs that the address filters for, newest first, page by page, kept current by events. */
import type { InfiniteData } from "@tanstack/react-query"
import { useCallback, useEffect, useMemo, useRef, useState } from "react"
import type { Search } from "../../data/address.ts"
import { api, queries } from "../../data/api.ts"
import { connection, type LiveEvent, refreshSoon, useLive } from "../../data/live.ts"
import { useStore } from "../../data/store.ts"
import { type PageOf, usePaged } from "../../lists/PagedList.tsx"
import { after, mayMatch, type RunRow, rowOf, runOf, withChanges } from "./rows.ts"

type Pages = InfiniteData<PageOf<RunRow>, string>

const pageSize = 200
const freshMillis = 30_000
/** Rows that changed are drawn together: a busy organization ends a thousand runs a second. */
const drawMillis = 500
/** Changed rows that are kept, also for lists with other filters that somebody comes back to. */
const changesMax = 5_000
const named = ["status", "capability", "provider", "endpoint", "key_id", "from", "to"] as const

/** Filters of the address as the API takes them. `key` in the address is `key_id` in the API. */
export const queryOf = (search: Search): Record<string, string> => {
  const all: Record<string, string> = { ...search, key_id: search["key"] ?? search["key_id"] ?? "" }
  return Object.fromEntries(
    Object.entries(all).filter(
      ([name, value]) => value !== "" && (named.some((one) => one === name) || name.startsWith("metadata."))
    )
  )
}

/** Rows that events have changed since they were read, by run. Only rows that were open are kept. */
const useChanged = (items: ReadonlyArray<RunRow>) => {
  const [changed, setChanged] = useState<ReadonlyMap<string, RunRow>>(new Map())
  const open = useMemo(() => new Map(items.flatMap((row) => (row.done ? [] : [[row.run_id, row] as const]))), [items])
  const waiting = useRef(new Map<string, RunRow>())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  /** Whether the event's run is in the list. */
  const take = (event: LiveEvent): boolean => {
    const run_id = runOf(event) ?? ""
    const row = waiting.current.get(run_id) ?? open.get(run_id)
    if (row === undefined) return false
    const next = after(row, event)
    if (next === row) return true
    waiting.current.set(run_id, next)
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      const rows = waiting.current
      waiting.current = new Map()
      setChanged((before) => withChanges(before, rows, changesMax))
    }, drawMillis)
    return true
  }
  return { changed, take, hasOpen: open.size > 0 }
}

/**
 * New runs come in at the top, and push down what is below. So they wait while the pointer is on the rows, and while somebody has read more
 * than the first page; then `hasNew` says that there are some, and `show` reads them.
 */
const useNewRuns = (key: ReadonlyArray<unknown>, pages: number, readAt: number, hasOpen: boolean) => {
  const [hasNew, setHasNew] = useState(false)
  const isHeld = useRef(false)
  useEffect(() => setHasNew(false), [key])
  // The first page was read again, and has them.
  useEffect(() => {
    if (pages <= 1 && !isHeld.current) setHasNew(false)
  }, [pages, readAt])
  // Events of the time without a stream are lost, from before its first one too. A long list is not read again by itself.
  const isLive = useStore(connection) === "live"
  const missed = useRef(false)
  useEffect(() => {
    if (isLive && missed.current && pages > 1) setHasNew(true)
    if (isLive && missed.current && pages === 1 && hasOpen) refreshSoon("runs")
    missed.current = !isLive
  }, [isLive, pages, hasOpen])
  const arrived = () => {
    if (pages <= 1 && !isHeld.current) refreshSoon("runs")
    else setHasNew(true)
  }
  const show = useCallback(() => {
    setHasNew(false)
    queries.setQueryData<Pages>(key, (data) =>
      data === undefined ? data : { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) }
    )
    void queries.invalidateQueries({ queryKey: key })
    scrollTo(0, 0)
  }, [key])
  const hold = useCallback(
    (isOn: boolean) => {
      isHeld.current = isOn
      // Not at once: the pointer may be on its way to the button.
      if (!isOn && hasNew && pages <= 1) refreshSoon("runs")
    },
    [hasNew, pages]
  )
  return { hasNew, arrived, show, hold }
}

const none: ReadonlyArray<RunRow> = []

export const useRuns = (query: Record<string, string>) => {
  const key = useMemo(() => ["runs", "list", query], [query])
  const { pages, readAt, ...paged } = usePaged(
    key,
    async (from): Promise<PageOf<RunRow>> => {
      const { items, next_cursor } = await api.runs.list({ query: { ...query, ...from } })
      return { items: items.map(rowOf), next_cursor }
    },
    // Reading several pages again is one request for each, one after the other: five hundred when somebody comes back to a long list.
    { pageSize, stale: (pages) => (pages > 1 ? "static" : freshMillis) }
  )
  const { changed, take, hasOpen } = useChanged(paged.items ?? none)
  const { arrived, ...fresh } = useNewRuns(key, pages, readAt, hasOpen)
  useLive((event) => {
    const isNews = event.type === "run.created" || event.type === "run.finished"
    if (!take(event) && isNews && mayMatch(query, event)) arrived()
  })
  return { paged, changed, ...fresh }
}
