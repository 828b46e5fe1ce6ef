/** Searches and lists of the catalog. It changes with imports only, so answers stay fresh for minutes. */
import { keepPreviousData } from "@tanstack/react-query"
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { catalogStaleMillis } from "../../data/lists.ts"
import { usePaged } from "../../lists/PagedList.tsx"

const staleTime = catalogStaleMillis
const foundMax = 30

export type Found = AnswerOf<"discovery", "discover">
export type FoundItem = Found["items"][number]

interface Wanted {
  readonly query: string
  /** The query when nobody had typed for a moment. */
  readonly rested: string
  readonly kind: string
  readonly provider: string
}

const kindOf = (text: string) => (text === "capability" || text === "endpoint" ? text : null)

export const useSearch = ({ query, rested, kind, provider }: Wanted) => {
  const search = useRead(
    ["catalog", "discover", rested, kind, provider],
    ({ signal }) =>
      api.discovery.discover(
        {
          payload: {
            query: rested,
            limit: foundMax,
            kind: kindOf(kind),
            provider: provider === "" ? null : provider
          }
        },
        { signal }
      ),
    { enabled: rested !== "", staleTime, placeholderData: keepPreviousData }
  )
  return { query: search, isCurrent: rested === query && !search.isPlaceholderData }
}

/** There are fewer providers than one page takes. */
const all = { query: { limit: 200 } }

export const useProviders = () =>
  useRead(["catalog", "providers"], async () => (await api.discovery.providers(all))?.items ?? [], { staleTime })

export const useEndpoints = (provider: string) =>
  usePaged(
    ["catalog", "endpoints", provider],
    async (from) => {
      const page = await api.discovery.endpoints({ params: { provider }, query: from })
      return { items: page?.items ?? [], next_cursor: page?.next_cursor ?? null }
    },
    { pageSize: 100, enabled: provider !== "", stale: catalogStaleMillis }
  )
