/**
 * What a segment knows of its runs, so that a question about thousands of them reads no run: pages of bytes, in the order of their numbers.
 *
 * A run is its id with its length before it, the number of its kind among the segment's, its charge in microdollars and its time in milliseconds.
 * All of it is final when a run has ended.
 */
import { Reader, Writer } from "./Bytes.ts"

/** Runs of a page: what is read to know one. */
export const pageRuns = 32

/** What many runs have in common. */
export interface Kind {
  readonly status: string
  readonly capability: string | null
  readonly endpoint: string | null
  readonly provider: string | null
}

export interface Doc extends Kind {
  readonly run_id: string
  /** Microdollars. */
  readonly charged: bigint
  readonly created_at: Date
}

const kindText = ({ status, capability, endpoint, provider }: Kind) =>
  JSON.stringify([status, capability, endpoint, provider])

const textOrNull = (value: unknown) => (typeof value === "string" ? value : null)

/** As a segment's `kinds` column holds them. */
export const kindsOf = (text: string): ReadonlyArray<Kind> => {
  const read: unknown = JSON.parse(text)
  return (Array.isArray(read) ? read : []).map((one: unknown) => {
    const [status, capability, endpoint, provider]: ReadonlyArray<unknown> = Array.isArray(one) ? one : []
    return {
      status: String(status),
      capability: textOrNull(capability),
      endpoint: textOrNull(endpoint),
      provider: textOrNull(provider)
    }
  })
}

/** The kinds of these runs as JSON text, and their pages. */
export const pagesOf = (
  docs: ReadonlyArray<Doc>
): { readonly kinds: string; readonly pages: ReadonlyArray<Uint8Array> } => {
  const kinds = new Map<string, number>()
  const writer = new Writer()
  const pages: Array<Uint8Array> = []
  docs.forEach((doc, n) => {
    const text = kindText(doc)
    const kind = kinds.get(text) ?? kinds.size
    kinds.set(text, kind)
    writer.text(doc.run_id)
    writer.put(kind)
    writer.put(Number(doc.charged))
    writer.put(doc.created_at.getTime())
    if ((n + 1) % pageRuns === 0 || n + 1 === docs.length) pages.push(writer.take())
  })
  return { kinds: `[${[...kinds.keys()].join(",")}]`, pages }
}

const nothing: Kind = { status: "", capability: null, endpoint: null, provider: null }

export const docsOf = (page: Uint8Array, kinds: ReadonlyArray<Kind>): ReadonlyArray<Doc> => {
  const reader = new Reader(page)
  const docs: Array<Doc> = []
  while (!reader.done) {
    const run_id = reader.text()
    const { status, capability, endpoint, provider } = kinds[reader.next()] ?? nothing
    const charged = BigInt(reader.next())
    const created_at = new Date(reader.next())
    docs.push({ run_id, status, capability, endpoint, provider, charged, created_at })
  }
  return docs
}
