/** The organization's API keys for lists to choose from, and for names of ids: one request for the whole console. */
import { useMemo } from "react"
import { api, useRead } from "./api.ts"

/** An organization has at most 100 keys that are not revoked. */
const most = 200

export const useApiKeys = ({ enabled = true }: { readonly enabled?: boolean } = {}) =>
  useRead(["keys", "list"], async () => (await api.keys.list({ query: { limit: most } })).items, { enabled })

/** Names by the ids of keys. */
export const useKeyNames = (enabled: boolean): ReadonlyMap<string, string> => {
  const keys = useApiKeys({ enabled }).data
  return useMemo(() => new Map((keys ?? []).map(({ id, name }) => [id, name])), [keys])
}
