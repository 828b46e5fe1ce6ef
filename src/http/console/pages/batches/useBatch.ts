/** Batches and their results, current: an unfinished batch is read again every second while its page is in sight, and every three seconds in the list. */
import { useEffect, useRef } from "react"
import type { Nouns } from "../../../client/nounColumns.ts"
import { type AnswerOf, api, queries, request, useRead } from "../../data/api.ts"
import { usePaged } from "../../lists/PagedList.tsx"
import { announce } from "../../parts/Values.tsx"

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

/** How a row can end. */
export const ends = ["succeeded", "no_match", "failed", "blocked", "invalid", "cancelled"] as const
export const endedOf = ({ rows }: Batch): number => rows.total - rows.open
export type Line = Nouns["BatchResult"]["Encoded"]

export const addressOfResults = (batch_id: string): string => `/v1/batches/${encodeURIComponent(batch_id)}/results`

/** The first rows with this status. An empty text means any. */
export const readResults = async (
  batch_id: string,
  { status, wanted, ...options }: { readonly status: string; readonly wanted: number; readonly signal?: AbortSignal }
) => {
  const headers = { accept: "application/x-ndjson" }
  const response = await request("GET", addressOfResults(batch_id), {}, { headers, ...options })
  const reader = response.body?.getReader()
  if (reader === undefined) return { lines: [], more: false }
  const decoder = new TextDecoder()
  const lines: Array<Line> = []
  let rest = ""
  for (;;) {
    const { done, value } = await reader.read()
    rest += value === undefined ? "" : decoder.decode(value, { stream: true })
    const texts = rest.split("\n")
    rest = texts.pop() ?? ""
    for (const text of texts) {
      const line: Line = JSON.parse(text)
      if (status === "" || line.status === status) lines.push(line)
    }
    if (done || lines.length > wanted) {
      if (!done) await reader.cancel()
      return { lines: lines.slice(0, wanted), more: lines.length > wanted }
    }
  }
}
export const allResults = async (batch_id: string): Promise<ReadonlyArray<Line>> =>
  (await readResults(batch_id, { status: "", wanted: Number.POSITIVE_INFINITY })).lines
