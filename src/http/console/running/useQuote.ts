/** What a request would cost now. Quotes are free, so one is asked for whenever the request has rested for a moment. */
import { keepPreviousData } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { type AnswerOf, api, ApiError, useRead } from "../data/api.ts"
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
