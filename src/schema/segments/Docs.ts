/**
 * What a segment of the history index stores about its runs, so that a query about thousands of runs reads none of them. The data is in byte
 * pages, in the order of the run numbers:
 *
 * - classes: the kind (status, capability, endpoint, provider) and charge of each run, 4,096 runs per page, about a byte each. They are enough
 *   for counts and sums. Page 0 lists the segment's kinds as JSON text.
 * - docs: the id and time of each run, 32 runs per page, for the few runs that an answer shows.
 *
 * A run in a segment has ended, so the data never changes.
 */
import { Reader, Writer } from "./Bytes.ts"
import { damaged } from "./damaged.ts"

/** Runs per page. Reading one run reads its whole page. */
export const docRuns = 32
export const classRuns = 4_096

/** The properties that many runs share. */
export interface RunKind {
  readonly status: string
  readonly capability: string | null
  readonly endpoint: string | null
  readonly provider: string | null
}

export interface Doc {
  readonly run_id: string
  /** Milliseconds. */
  readonly created_at: number
}

export interface Run extends Doc {
  readonly kind: RunKind
  /** Microdollars. */
  readonly charged: bigint
}

/** A run's kind and charge. */
export interface RunClass {
  readonly kind: RunKind
  readonly charged: bigint
}

const kindText = ({ status, capability, endpoint, provider }: RunKind) =>
  JSON.stringify([status, capability, endpoint, provider])

type KindText = readonly [string, string | null, string | null, string | null]
const isTextOrNull = (value: unknown) => value === null || typeof value === "string"
const isKind = (value: unknown): value is KindText =>
  Array.isArray(value) && value.length === 4 && typeof value[0] === "string" && value.every(isTextOrNull)
const areKinds = (value: unknown): value is ReadonlyArray<KindText> => Array.isArray(value) && value.every(isKind)

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const jsonOf = (page: Uint8Array): unknown => {
  try {
    return JSON.parse(decoder.decode(page))
  } catch {
    return damaged("a list of kinds is not JSON")
  }
}

/** Reads the kinds from page 0. */
export const kindsOf = (page: Uint8Array): ReadonlyArray<RunKind> => {
  const read = jsonOf(page)
  return areKinds(read)
    ? read.map(([status, capability, endpoint, provider]) => ({ status, capability, endpoint, provider }))
    : damaged("a list of kinds has an unexpected form")
}

/** The page of classes that lists the kinds. */
export const kindsPage = 0
/** The number of the class page that has a run. */
export const classPageOf = (run: number): number => 1 + Math.floor(run / classRuns)
export const docPageOf = (run: number): number => Math.floor(run / docRuns)

/** Runs with the same kind should share one object. Otherwise the text of the kind is built for every run. */
const numbersOf = (runs: ReadonlyArray<Run>) => {
  const byObject = new Map<RunKind, number>()
  const byText = new Map<string, number>()
  const numbers = runs.map(({ kind }) => {
    const existing = byObject.get(kind)
    if (existing !== undefined) return existing
    const text = kindText(kind)
    const number = byText.get(text) ?? byText.size
    byText.set(text, number)
    byObject.set(kind, number)
    return number
  })
  return { numbers, kinds: [...byText.keys()] }
}

/** A charge below `exactMax` microdollars (over $100,000) and the number of a kind fit into one exact number. */
const kindsMax = 65_536
const exactMax = 2n ** 37n

export interface Pages {
  readonly classes: ReadonlyArray<Uint8Array>
  readonly docs: ReadonlyArray<Uint8Array>
}

export const pagesOf = (runs: ReadonlyArray<Run>): Pages => {
  const { numbers, kinds } = numbersOf(runs)
  const writer = new Writer()
  const classes: Array<Uint8Array> = [encoder.encode(`[${kinds.join(",")}]`)]
  for (let from = 0; from < runs.length; from += classRuns) {
    const numberOf = new Map<number | string, number>()
    const pageClasses: Array<{ readonly kind: number; readonly charged: bigint }> = []
    const members = runs.slice(from, from + classRuns).map(({ charged }, n) => {
      const kind = numbers[from + n] ?? damaged(`run ${from + n} has no kind`)
      const name = charged < exactMax && kind < kindsMax ? Number(charged) * kindsMax + kind : `${kind} ${charged}`
      const existing = numberOf.get(name)
      if (existing !== undefined) return existing
      numberOf.set(name, pageClasses.length)
      return pageClasses.push({ kind, charged }) - 1
    })
    writer.put(pageClasses.length)
    for (const { kind, charged } of pageClasses) {
      writer.put(kind)
      writer.put(Number(charged))
    }
    // The class of each run, as one byte or as two, the lower first.
    writer.raw(
      pageClasses.length <= 256 ? Uint8Array.from(members) : Uint8Array.from(members.flatMap((m) => [m & 255, m >> 8]))
    )
    classes.push(writer.take())
  }
  const docs: Array<Uint8Array> = []
  runs.forEach(({ run_id, created_at }, n) => {
    writer.text(run_id)
    writer.put(created_at)
    if ((n + 1) % docRuns === 0 || n + 1 === runs.length) docs.push(writer.take())
  })
  return { classes, docs }
}

/** A page of classes: which there are, and of each of its runs the number of its own. */
export interface ClassPage {
  readonly classes: ReadonlyArray<RunClass>
  readonly of: Uint8Array | Uint16Array
}

/** A byte each, or two for more classes than a byte can number. */
const membersIn = (bytes: Uint8Array, classes: number): Uint8Array | Uint16Array => {
  if (classes <= 256) return bytes
  if (bytes.length % 2 !== 0) return damaged("a page ends within a number")
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return Uint16Array.from({ length: bytes.length / 2 }, (_, n) => view.getUint16(2 * n, true))
}

export const classesOf = (page: Uint8Array, kinds: ReadonlyArray<RunKind>): ClassPage => {
  const reader = new Reader(page)
  const classes = Array.from({ length: reader.next() }, () => {
    const number = reader.next()
    const kind = kinds[number] ?? damaged(`a page names kind ${number} of ${kinds.length}`)
    return { kind, charged: BigInt(reader.next()) }
  })
  const of = membersIn(reader.rest(), classes.length)
  return of.some((number) => number >= classes.length)
    ? damaged(`a run names a class that a page of ${classes.length} does not have`)
    : { classes, of }
}

const docFrom = (reader: Reader): Doc => ({ run_id: reader.text(), created_at: reader.next() })

/** The doc at a position of a page. Null after its end. */
export const docAt = (page: Uint8Array, place: number): Doc | null => {
  const reader = new Reader(page)
  for (let n = 0; n < place && !reader.done; n++) {
    reader.skipText()
    reader.next()
  }
  return reader.done ? null : docFrom(reader)
}

/** All docs of a page. */
export const docsOf = (page: Uint8Array): ReadonlyArray<Doc> => {
  const reader = new Reader(page)
  const docs: Array<Doc> = []
  while (!reader.done) docs.push(docFrom(reader))
  return docs
}

/** All runs of a segment, from all of its pages. */
export const runsOf = ({ classes, docs }: Pages): ReadonlyArray<Run> => {
  const [first, ...rest] = classes
  const kinds = first === undefined ? damaged("the kinds of a segment are missing") : kindsOf(first)
  const runClasses = rest.flatMap((page) => {
    const read = classesOf(page, kinds)
    return Array.from(read.of, (number) => read.classes[number])
  })
  return docs.flatMap(docsOf).map(({ run_id, created_at }, n) => {
    const { kind, charged } = runClasses[n] ?? damaged(`the class of run ${run_id} is missing`)
    return { run_id, created_at, kind, charged }
  })
}
