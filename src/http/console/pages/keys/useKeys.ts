/** API keys, and the names that a scope may list. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { useCapabilities } from "../../data/capabilities.ts"
import { useProviders } from "../catalog/useCatalog.ts"

export type ApiKey = AnswerOf<"keys", "get">
type Named = readonly [value: string, words: string]

export const useKey = (key_id: string) => useRead(["keys", "one", key_id], () => api.keys.get({ params: { key_id } }))

/** The names of capabilities and providers. They have no data until both lists are there. */
export const useScopeNames = () => {
  const capabilities = useCapabilities()
  const providers = useProviders()
  const ofCapabilities = capabilities.data?.map(({ capability }): Named => [capability, capability])
  const ofProviders = providers.data?.map(({ provider, title }): Named => [provider, title])
  return {
    data:
      ofCapabilities === undefined || ofProviders === undefined
        ? undefined
        : { capabilities: ofCapabilities, providers: ofProviders },
    error: capabilities.error ?? providers.error,
    refetch: () => Promise.all([capabilities.refetch(), providers.refetch()])
  }
}
