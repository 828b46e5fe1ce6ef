/** API keys, and the names that a scope may list. */
import { useQuery } from "@tanstack/react-query"
import type { AnswerOf } from "../../../client/Browser.ts"
import { api, queries } from "../../data/api.ts"

export type ApiKey = AnswerOf<"keys", "get">
type Named = readonly [value: string, words: string]

export const useKey = (key_id: string) =>
  useQuery({ queryKey: ["keys", "one", key_id], queryFn: () => api.keys.get({ params: { key_id } }) })

/** Reads everything that shows keys again: lists, pages of keys, filters. */
export const keysChanged = () => queries.invalidateQueries({ queryKey: ["keys"] })

/** The catalog's lists have at most so many rows a page. */
const pageSize = 200

/** The service answers "not modified" only to requests that have an earlier answer. This client sends none, so there is always a page. */
const pageOf = <A extends object>(answer: A | void): A => {
  if (typeof answer === "object") return answer
  throw new Error("The service sent no list.")
}

const capabilities = async (): Promise<ReadonlyArray<Named>> => {
  const found: Array<Named> = []
  let cursor: string | null = ""
  while (cursor !== null) {
    const from: { readonly cursor?: string } = cursor === "" ? {} : { cursor }
    const page = pageOf(await api.discovery.capabilities({ query: { limit: pageSize, ...from } }))
    for (const { capability } of page.items) found.push([capability, capability])
    cursor = page.next_cursor
  }
  return found
}

const providers = async (): Promise<ReadonlyArray<Named>> => {
  const found: Array<Named> = []
  let cursor: string | null = ""
  while (cursor !== null) {
    const from: { readonly cursor?: string } = cursor === "" ? {} : { cursor }
    const page = pageOf(await api.discovery.providers({ query: { limit: pageSize, ...from } }))
    for (const { provider, title } of page.items) found.push([provider, title])
    cursor = page.next_cursor
  }
  return found
}

export const useScopeNames = () =>
  useQuery({
    queryKey: ["scope names"],
    queryFn: async () => {
      const [ofCapabilities, ofProviders] = await Promise.all([capabilities(), providers()])
      return { capabilities: ofCapabilities, providers: ofProviders }
    },
    staleTime: 300_000
  })
