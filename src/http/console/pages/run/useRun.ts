/** One run and its details, current: its events say when to read it again. */
import { useEffect, useRef } from "react"
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { connection, refreshSoon, useLive } from "../../data/live.ts"
import { useStore } from "../../data/store.ts"
import { announce, statusWord } from "../../parts/Values.tsx"

export type Run = AnswerOf<"runs", "get">
/** What each part of a run's page gets. */
export interface OfRun {
  readonly run: Run
}

/** Without events, an unfinished run is read again after so long. */
const pollMillis = 2_000

export const useRun = (run_id: string) => {
  const isLive = useStore(connection) === "live"
  const run = useRead(["run", run_id], () => api.runs.get({ params: { run_id }, query: {} }), {
    refetchInterval: ({ state }) => (state.data?.done === false && !isLive ? pollMillis : false)
  })
  useLive((event) => {
    if (event.data["run_id"] === run_id) refreshSoon("run")
  })
  const { data } = run
  const isOpen = data?.done === false
  const wasLive = useRef(isLive)
  // What happened after the answer and before the stream began is in neither.
  useEffect(() => {
    if (isLive && !wasLive.current && isOpen) refreshSoon("run")
    wasLive.current = isLive
  }, [isLive, isOpen])
  const wasOpen = useRef(false)
  useEffect(() => {
    if (data === undefined) return
    if (data.done && wasOpen.current) announce(`The run has ended: ${statusWord(data.status)}.`)
    wasOpen.current = !data.done
  }, [data])
  return run
}

/** What a run asked for, why its providers were chosen, and its ledger entries. Read again whenever the run is. */
export type Details = AnswerOf<"runs", "details">

const bookedMillis = 1_000

/** Details of the status before would show its old hold and entries. */
export const useDetails = ({ run_id, status }: Run) =>
  useRead(["run", run_id, "details", status], () => api.runs.details({ params: { run_id } }), {
    // A worker books a refund a moment after it was decided.
    refetchInterval: ({ state: { data } }) =>
      data?.warranty?.dispute?.state === "refunded" && !data.ledger.some(({ type }) => type === "refund")
        ? bookedMillis
        : false,
    // Those of the status before, never those of another run.
    placeholderData: (before) => (before?.run_id === run_id ? before : undefined)
  })
