/** Lists that the whole console has once: API keys and capabilities. */
import { useMemo } from "react"
import { api, useRead } from "./api.ts"

/** One page has all: an organization has at most 100 keys that are not revoked, and there are fewer capabilities. */
const query = { limit: 200 }

/** For lists to choose from, and for names of ids. */
export const useApiKeys = ({ enabled = true }: { readonly enabled?: boolean } = {}) =>
  useRead(["keys", "list"], async () => (await api.keys.list({ query })).items, { enabled })

/** Names by the ids of keys. */
export const useKeyNames = (enabled: boolean): ReadonlyMap<string, string> => {
  const keys = useApiKeys({ enabled }).data
  return useMemo(() => new Map((keys ?? []).map(({ id, name }) => [id, name])), [keys])
}

/** Capabilities change with imports only, so they stay fresh for minutes. */
export const catalogStaleMillis = 300_000

export const useCapabilities = () =>
  useRead(["catalog", "capabilities"], async () => (await api.discovery.capabilities({ query }))?.items ?? [], {
    staleTime: catalogStaleMillis
  })
