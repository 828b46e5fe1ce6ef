/** Reads the results of a batch from their beginning, and stops when it has enough: a large batch has megabytes of them. */
import type { Nouns } from "../../../client/nounColumns.ts"
import { request } from "../../data/api.ts"

/** A line of the results, as the API writes it. */
export type Line = Nouns["BatchResult"]["Encoded"]

export interface Lines {
  readonly lines: ReadonlyArray<Line>
  readonly more: boolean
}

const parsed = (text: string): Line => JSON.parse(text)

export const addressOfResults = (batch_id: string): string => `/v1/batches/${encodeURIComponent(batch_id)}/results`

/** The first rows with this status. An empty text means any. */
export const readResults = async (
  batch_id: string,
  { status, wanted, signal }: { readonly status: string; readonly wanted: number; readonly signal: AbortSignal }
): Promise<Lines> => {
  const headers = { accept: "application/x-ndjson" }
  const response = await request("GET", addressOfResults(batch_id), {}, { headers, signal })
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
      const line = parsed(text)
      if (status === "" || line.status === status) lines.push(line)
    }
    if (done || lines.length > wanted) {
      if (!done) await reader.cancel()
      return { lines: lines.slice(0, wanted), more: lines.length > wanted }
    }
  }
}

/** All rows that have ended. */
export const allResults = async (batch_id: string): Promise<ReadonlyArray<Line>> => {
  const headers = { accept: "application/x-ndjson" }
  const response = await request("GET", addressOfResults(batch_id), {}, { headers })
  return (await response.text()).split("\n").flatMap((text) => (text === "" ? [] : [parsed(text)]))
}
