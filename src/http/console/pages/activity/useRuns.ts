/** The runs that the address filters for, newest first, page by page, kept current by events. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import { useCallback, useMemo } from "react"
import type { AnswerOf } from "../../../client/Browser.ts"
import type { Search } from "../../data/address.ts"
import { api, queries } from "../../data/api.ts"
import { type LiveEvent, refreshSoon, useLive } from "../../data/live.ts"

export type ListedRun = AnswerOf<"runs", "list">["items"][number]

const pageSize = 200
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

/** Whether the newest runs of the list may be missing: it is read again when a run of the organization changes. */
export const useRuns = (query: Record<string, string>) => {
  const key = useMemo(() => ["runs", "list", query], [query])
  const runs = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) =>
      api.runs.list({ query: { ...query, limit: pageSize, ...(pageParam === "" ? {} : { cursor: pageParam }) } }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 30_000,
    // The rows of the filters before stay until those of the new ones are there.
    placeholderData: keepPreviousData
  })
  const pages = runs.data?.pages.length ?? 0
  useLive(
    useCallback(
      ({ type }: LiveEvent) => {
        // Rows below what somebody has scrolled to are not read again: they would all be requested anew.
        if (type === "run.created" && pages <= 1) refreshSoon("runs")
        if (type === "run.finished") refreshSoon(pages <= 1 ? "runs" : "usage")
      },
      [pages]
    )
  )
  const items = useMemo(() => runs.data?.pages.flatMap(({ items: one }) => one) ?? [], [runs.data])
  return { runs, items, refresh: () => void queries.resetQueries({ queryKey: key }) }
}
