/** A list of the API, read page by page, and its states: it loads, failed, is empty, is shown in part, or in full. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import { type ReactNode, useMemo } from "react"
import { Button, Failed, None, type Nothing, Skeleton } from "../parts/Page.tsx"
import { DataTable, type TableProps } from "../parts/Table.tsx"

export interface PageOf<A> {
  readonly items: ReadonlyArray<A>
  readonly next_cursor: string | null
}

/** Which page, as a part of the query. */
interface From {
  readonly limit: number
  readonly cursor?: string
}

/** The most that the API gives at once. */
const pageMax = 200

/** All rows of a list, or about so many, and whether that is everything. */
export const allRows = async <A,>(read: (from: From) => Promise<PageOf<A>>, rowsMax: number) => {
  const items: Array<A> = []
  let from: From = { limit: pageMax }
  for (;;) {
    const page = await read(from)
    items.push(...page.items)
    if (page.next_cursor === null) return { items, isAll: true }
    if (items.length >= rowsMax) return { items, isAll: false }
    from = { limit: pageMax, cursor: page.next_cursor }
  }
}

export interface Paged<A> {
  /** Null until the first page is there. */
  readonly items: ReadonlyArray<A> | null
  readonly error: Error | null
  readonly hasMore: boolean
  readonly isReading: boolean
  /** Reads the next page, unless it is being read. */
  readonly more: () => void
  /** Reads what could not be read: the next page, or the pages that are there. */
  readonly again: () => void
}

interface Options<A> {
  /** The rows of a page. */
  readonly pageSize?: number
  /** False while the list may not be read. */
  readonly enabled?: boolean
  /** Whether rows of the first page change by themselves, so that the list is read again every few seconds. */
  readonly changing?: (items: ReadonlyArray<A>) => boolean
  /** For so long, what was read is not read again when somebody comes back. It may depend on the number of pages. */
  readonly stale?: number | ((pages: number) => number | "static")
}

const pollMillis = 3_000
/** A longer list is not read again by itself: that is a request for each page, one after the other. */
const polledPagesMax = 3

/** `key` is that of the cache; everything that changes the list belongs into it. */
export const usePaged = <A,>(
  key: ReadonlyArray<unknown>,
  read: (from: From) => Promise<PageOf<A>>,
  { pageSize: limit = 50, enabled = true, changing, stale = 5_000 }: Options<A> = {}
) => {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => read(pageParam === "" ? { limit } : { limit, cursor: pageParam }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    enabled,
    staleTime: ({ state }) => (typeof stale === "number" ? stale : stale(state.data?.pages.length ?? 0)),
    refetchInterval: ({ state }) => {
      const [first, ...others] = state.data?.pages ?? []
      if (first === undefined || others.length >= polledPagesMax) return false
      return changing?.(first.items) === true ? pollMillis : false
    }
  })
  const { data, isFetchingNextPage, fetchNextPage, refetch } = query
  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? null, [data])
  return {
    items,
    error: query.error,
    hasMore: query.hasNextPage,
    isReading: isFetchingNextPage,
    more: () => {
      if (!isFetchingNextPage) void fetchNextPage()
    },
    again: () => void (query.isFetchNextPageError ? fetchNextPage() : refetch()),
    pages: data?.pages.length ?? 0,
    readAt: query.dataUpdatedAt
  }
}

interface PagedListProps<A> extends Nothing {
  readonly paged: Paged<A>
  readonly children: (items: ReadonlyArray<A>) => ReactNode
}

/** The states of a list. `PagedTable` is the usual form of its rows. */
export const PagedList = <A,>({ paged, children, ...nothing }: PagedListProps<A>) => {
  const { items, error, hasMore, isReading, more, again } = paged
  if (items === null)
    return error === null ? <Skeleton lines={6} height={28} /> : <Failed error={error} retry={again} />
  if (items.length === 0 && !hasMore) return <None {...nothing} />
  return (
    <div className="space-y-3">
      {/* A page whose rows are all filtered out is not the end of the list. */}
      {items.length === 0 ? <p className="text-muted">None among the newest.</p> : children(items)}
      {error !== null && <Failed error={error} retry={again} />}
      {hasMore && error === null && (
        <Button busy={isReading} onClick={more}>
          Show more
        </Button>
      )}
    </div>
  )
}

type PagedTableProps<A> = Omit<TableProps<A>, "rows"> & Pick<PagedListProps<A>, "paged">

export const PagedTable = <A,>({ paged, empty = null, hint, filtered = false, ...table }: PagedTableProps<A>) => (
  <PagedList paged={paged} empty={empty} hint={hint} filtered={filtered}>
    {(rows) => <DataTable rows={rows} {...table} />}
  </PagedList>
)
