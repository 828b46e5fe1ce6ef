/** What a request would cost now, and its start. Quotes are free, so one is asked for whenever the request has rested for a moment. */
import { keepPreviousData, useMutation } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { type AnswerOf, api, ApiError, queries, useRead } from "../data/api.ts"
import { refreshSoon } from "../data/live.ts"
import type { RunBody } from "./request.ts"

export type Quote = AnswerOf<"quotes", "quote">

const restMillis = 300
/** Prices change, and so does the balance. */
const staleMillis = 15_000

/** The value once it has stayed the same for a moment. */
export const useRested = <A>(value: A, millis = restMillis): A => {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), millis)
    return () => clearTimeout(timer)
  }, [value, millis])
  return rested
}

const isRefused = (error: unknown) => error instanceof ApiError && error.status >= 400 && error.status < 500

/** A null body asks for nothing. `isCurrent` is false while the quote is of the request before. */
export const useQuote = (body: RunBody | null) => {
  const now = body === null ? "" : JSON.stringify(body)
  const text = useRested(now)
  const query = useRead(
    // An own key: a charge changes the balance, and with it whether the run would be blocked.
    ["wallet", "quote", text],
    ({ signal }) => api.quotes.quote({ payload: JSON.parse(text) }, { signal }),
    {
      enabled: text !== "",
      staleTime: staleMillis,
      placeholderData: keepPreviousData,
      retry: (failures, error) => failures < 2 && !isRefused(error)
    }
  )
  return {
    quote: query.error === null && text !== "" ? (query.data ?? null) : null,
    error: text === "" ? null : query.error,
    isCurrent: text === now && !query.isPlaceholderData && query.data !== undefined,
    refresh: () => void query.refetch()
  }
}

/** Most runs end sooner. The page follows the others by their events. */
const waitSeconds = 20

/** The service may have begun the run although its answer did not arrive. */
const mayHaveBegun = (error: unknown) => !(error instanceof ApiError) || error.status === 0 || error.status >= 500

/** Succeeds with the id of the run, whatever became of it. Fails if there is no run. */
export const useStart = (onStarted: (run_id: string) => void) => {
  const open = useRef<{ readonly text: string; readonly key: string } | null>(null)
  return useMutation({
    mutationFn: async (body: RunBody): Promise<string> => {
      const text = JSON.stringify(body)
      const attempt = open.current?.text === text ? open.current : { text, key: crypto.randomUUID() }
      open.current = attempt
      try {
        const { run_id } = await api.runs.run(
          { payload: { ...body, wait_seconds: waitSeconds } },
          { headers: { "idempotency-key": attempt.key } }
        )
        open.current = null
        return run_id
      } catch (error) {
        const run_id = error instanceof ApiError ? error.run_id : null
        if (run_id !== null || !mayHaveBegun(error)) open.current = null
        if (run_id !== null) return run_id
        throw error
      }
    },
    onSuccess: onStarted,
    onSettled: () => {
      refreshSoon("runs")
      refreshSoon("wallet")
      void queries.invalidateQueries({ queryKey: ["guard"] })
    }
  })
}
