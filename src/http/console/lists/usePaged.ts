/** A list of the API, read page by page. The rows of the filters before stay until those of the new ones are there. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import { useMemo } from "react"

interface PageOf<A> {
  readonly items: ReadonlyArray<A>
  readonly next_cursor: string | null
}

export interface Paged<A> {
  /** Null until the first page is there. */
  readonly items: ReadonlyArray<A> | null
  readonly error: Error | null
  readonly hasMore: boolean
  readonly isReading: boolean
  readonly more: () => void
  readonly again: () => void
}

interface Options<A> {
  /** False while the list may not be read. */
  readonly enabled?: boolean
  /** Whether rows of the first page change by themselves, so that the list is read again every few seconds. */
  readonly changing?: (items: ReadonlyArray<A>) => boolean
  /** For so long, what was read is not read again when somebody comes back. */
  readonly staleMillis?: number
}

const pollMillis = 3_000
/** A longer list is not read again by itself: that is a request for each page, one after the other. */
const polledPagesMax = 3

/** `key` is that of the cache; everything that changes the list belongs into it. `from` is the cursor, as a part of the query. */
export const usePaged = <A>(
  key: ReadonlyArray<unknown>,
  read: (from: { readonly cursor?: string }) => Promise<PageOf<A>>,
  { enabled = true, changing, staleMillis = 5_000 }: Options<A> = {}
): Paged<A> => {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => read(pageParam === "" ? {} : { cursor: pageParam }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    enabled,
    staleTime: staleMillis,
    refetchInterval: ({ state }) => {
      const [first, ...others] = state.data?.pages ?? []
      if (first === undefined || others.length >= polledPagesMax) return false
      return changing?.(first.items) === true ? pollMillis : false
    }
  })
  const { data, fetchNextPage, refetch } = query
  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? null, [data])
  return {
    items,
    error: query.error,
    hasMore: query.hasNextPage,
    isReading: query.isFetchingNextPage,
    more: () => void fetchNextPage(),
    again: () => void refetch()
  }
}
