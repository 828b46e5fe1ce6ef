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

export interface Doc {
  readonly run_id: string
  readonly kind: Kind
  /** Microdollars. */
  readonly charged: bigint
  /** Milliseconds. */
  readonly created_at: number
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
    const text = kindText(doc.kind)
    const kind = kinds.get(text) ?? kinds.size
    kinds.set(text, kind)
    writer.text(doc.run_id)
    writer.put(kind)
    writer.put(Number(doc.charged))
    writer.put(doc.created_at)
    if ((n + 1) % pageRuns === 0 || n + 1 === docs.length) pages.push(writer.take())
  })
  return { kinds: `[${[...kinds.keys()].join(",")}]`, pages }
}

const nothing: Kind = { status: "", capability: null, endpoint: null, provider: null }

/** Those of a page at these places, which must ascend; all of them without. */
export const docsOf = (
  page: Uint8Array,
  kinds: ReadonlyArray<Kind>,
  places?: ReadonlyArray<number>
): ReadonlyArray<Doc> => {
  const reader = new Reader(page)
  const docs: Array<Doc> = []
  for (let place = 0, next = 0; !reader.done; place++) {
    if (places !== undefined && places[next] !== place) {
      if (next >= places.length) break
      reader.skipText()
      for (let n = 0; n < 3; n++) reader.next()
      continue
    }
    next += 1
    const run_id = reader.text()
    const kind = kinds[reader.next()] ?? nothing
    docs.push({ run_id, kind, charged: BigInt(reader.next()), created_at: reader.next() })
  }
  return docs
}
