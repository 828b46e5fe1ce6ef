/** The API and the cache of its answers, one of each for the whole page. */
import { QueryClient, type QueryFunctionContext, useQuery, type UseQueryOptions } from "@tanstack/react-query"
import { ApiError, browserClient } from "../../client/Browser.ts"
import { makeStore } from "./store.ts"

export { addressOf, type AnswerOf, ApiError, type OperationId } from "../../client/Browser.ts"

/** True from the first 401 of a page that had a session, until the person has signed in again. */
export const sessionEnded = makeStore(false)

/** The user and organization of this tab. Another tab may sign in as somebody else meanwhile. */
export const signedInAs = makeStore<{ readonly user: string; readonly organization: string } | null>(null)

export const { api, request } = browserClient(() => {
  if (signedInAs.get() !== null) sessionEnded.set(true)
})

const retriesMax = 2
const isPassing = (error: unknown) =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500)

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A browser that calls itself offline still reaches a service on this machine or in its network.
      networkMode: "always",
      refetchOnReconnect: true,
      staleTime: 5_000,
      retry: (failures, error) => failures < retriesMax && isPassing(error),
      retryDelay: (failures, error) =>
        error instanceof ApiError && error.retry_after !== null ? error.retry_after * 1_000 : 400 * 2 ** failures
    },
    // Without this a change waits for the network in silence, and is sent when nobody expects it any more.
    mutations: { networkMode: "always", retry: false }
  }
})

/** What `read` answers, kept under the key: a change that names its first part reads it again. Lists by page have `usePaged`. */
export const useRead = <A>(
  key: ReadonlyArray<unknown>,
  read: (context: QueryFunctionContext) => Promise<A>,
  options: Omit<UseQueryOptions<NoInfer<A>>, "queryKey" | "queryFn"> = {}
) => useQuery({ ...options, queryKey: key, queryFn: read })
