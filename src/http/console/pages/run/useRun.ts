/** One run, current: its events say when to read it again. */
import { useEffect, useRef } from "react"
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { connection, refreshSoon, useLive } from "../../data/live.ts"
import { useStore } from "../../data/store.ts"
import { announce } from "../../parts/Announcer.tsx"
import { statusWord } from "../../parts/Values.tsx"

export type Run = AnswerOf<"runs", "get">

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
