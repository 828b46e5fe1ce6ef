/** API keys, allowances, and the names that a scope may list. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { useCapabilities } from "../../data/lists.ts"
import { usePaged } from "../../lists/PagedList.tsx"
import { useProviders } from "../catalog/useCatalog.ts"

export type ApiKey = AnswerOf<"keys", "get">
type Named = readonly [value: string, words: string]

export const useKey = (key_id: string) => useRead(["keys", "one", key_id], () => api.keys.get({ params: { key_id } }))

/** The names of capabilities and providers. Null until both lists are there. */
export const useScopeNames = () => {
  const capabilities = useCapabilities().data?.map(({ capability }): Named => [capability, capability])
  const providers = useProviders().data?.map(({ provider, title }): Named => [provider, title])
  return capabilities === undefined || providers === undefined
    ? { capabilities: null, providers: null }
    : { capabilities, providers }
}

/** Allowances of the organization, newest first. */
export type Allowance = AnswerOf<"allowances", "get">

export const useAllowance = (allowance_id: string, options: { readonly placeholderData?: Allowance } = {}) =>
  useRead(["keys", "allowance", allowance_id], () => api.allowances.get({ params: { allowance_id } }), options)

export const useAllowances = () =>
  usePaged(["keys", "allowances"], (from) => api.allowances.list({ query: from }), { pageSize: 100 })
