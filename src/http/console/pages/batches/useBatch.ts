/** Batches, current: an unfinished one is read again every second while its page is in sight, and every three seconds in the list. */
import { useEffect, useRef } from "react"
import { type AnswerOf, api, queries, useRead } from "../../data/api.ts"
import { usePaged } from "../../lists/PagedList.tsx"
import { announce } from "../../parts/Announcer.tsx"

export type Batch = AnswerOf<"batches", "get">

const progressMillis = 1_000
export const useBatch = (batch_id: string) => {
  const batch = useRead(["batch", batch_id], () => api.batches.get({ params: { batch_id } }), {
    refetchInterval: ({ state }) => (state.data?.done === false ? progressMillis : false)
  })
  const { data } = batch
  const wasOpen = useRef(false)
  useEffect(() => {
    if (data === undefined) return
    if (data.done && wasOpen.current) {
      announce(`The batch is ${data.status}: ${data.rows.succeeded} of ${data.rows.total} rows succeeded.`)
      void queries.invalidateQueries({ queryKey: ["batches"] })
    }
    wasOpen.current = !data.done
  }, [data])
  return batch
}

/** Newest first. Those of later pages are older, and have ended. */
export const useBatches = () =>
  usePaged<Batch>(["batches"], (from) => api.batches.list({ query: from }), {
    changing: (items) => items.some(({ done }) => !done)
  })

/** The label that this console gives a batch. */
export const fileOf = ({ metadata }: Batch): string | null => metadata?.["file"] ?? null

export const endedOf = ({ rows }: Batch): number => rows.total - rows.open
