/**
 * The subjects of a run: under which keys its input and result are found, where each stands, and what that place says of it.
 *
 * The same code reads what is written and what is asked for, so both sides agree. The index holds hashes of organization and key: one
 * organization's subjects are nowhere near another's, and what is erased leaves nothing to read.
 */
import { recipientFields, touchCapabilities } from "../../../schema/runs/History.ts"
import { isRecord } from "../../../schema/json/Json.ts"
import { elsewhere, named, recipient } from "../../../schema/segments/Segment.ts"
import { extract, type Found, type Wanted } from "../../../schema/subjects/Extract.ts"

/** By other rules all segments of subjects are made anew: count it up when a run would give other subjects. */
export const subjectRules = 1

/** A run's JSON, parsed; of a very long text its beginning. */
export interface RunJson {
  readonly capability: string | null
  readonly input: unknown
  /** Of a raw run: its path and query are in it. */
  readonly plan: unknown
  /** Undefined without one. */
  readonly result: unknown
}

/** Where a subject stands. */
export interface Place extends Found {
  readonly in_result: boolean
}

/** Of one input or result: an answer of a few hundred people. */
const rowsMax = 1_000

/** What the index holds of a subject's key (`e:ada@example.com`) in an organization: 48 bits. */
export const subjectTerm = (org_id: string, key: string): number =>
  Number(BigInt.asUintN(48, Bun.hash.xxHash64(`${org_id} ${key}`)))

const foundIn = (value: unknown, keys: Wanted | null): ReadonlyArray<Found> => {
  const { found } = extract(value, keys)
  return found.length > rowsMax ? found.slice(0, rowsMax) : found
}

/** What a raw run carries beside its input: the values in its path and query. */
const addressed = (plan: unknown): unknown => {
  const raw = isRecord(plan) ? plan["raw"] : undefined
  if (!isRecord(raw)) return null
  const { path, query } = raw
  const segments = typeof path === "string" ? path.split("/").map(decoded) : []
  const pairs = Array.isArray(query) ? query.filter(isPair) : []
  return { path: segments, query: Object.fromEntries(pairs) }
}

const isPair = (one: unknown): one is readonly [string, unknown] =>
  Array.isArray(one) && one.length === 2 && typeof one[0] === "string"

const decoded = (segment: string) => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Whom an outbound run goes to, apart from the rest of its input. */
const parted = (input: unknown): readonly [unknown, unknown] => {
  if (!isRecord(input)) return [null, input]
  const members = (to: boolean) =>
    Object.fromEntries(Object.entries(input).filter(([name]) => recipientFields.includes(name) === to))
  return [members(true), members(false)]
}

/** For each subject the first that names it, or else the first that mentions it. */
const bestOf = (found: ReadonlyArray<Found>): ReadonlyArray<Found> => {
  const best = new Map<string, Found>()
  for (const one of found) {
    const known = best.get(one.key)
    if (known === undefined || (one.exact && !known.exact)) best.set(one.key, one)
  }
  return Array.from(best.values())
}

/**
 * Of what was asked for, each subject once, those that a touch goes to apart. Of a touch, a place among its recipients goes before any other,
 * even one that names the subject: by it one knows whether the touch went there.
 */
const requested = (
  { capability, input, plan }: RunJson,
  keys: Wanted | null
): { readonly to: ReadonlyArray<Found>; readonly rest: ReadonlyArray<Found> } => {
  if (capability !== null && touchCapabilities.includes(capability)) {
    const [recipients, others] = parted(input)
    const to = foundIn(recipients, keys)
    const known = new Set(to.map((one) => one.key))
    return { to, rest: foundIn(others, keys).filter((one) => !known.has(one.key)) }
  }
  const around = capability === null ? foundIn(addressed(plan), keys) : []
  const asked = foundIn(input, keys)
  return { to: [], rest: around.length === 0 ? asked : bestOf([...asked, ...around]) }
}

/** Tells each of a run's subjects, some of them twice, with the flags of where it stands (schema/segments/Segment.ts). */
export const eachSubject = (run: RunJson, tell: (key: string, flags: number) => void) => {
  const { to, rest } = requested(run, null)
  for (const { key, exact } of to) tell(key, recipient | (exact ? named : elsewhere))
  for (const { key, exact } of rest) tell(key, exact ? named : elsewhere)
  if (run.result !== undefined) for (const { key } of foundIn(run.result, null)) tell(key, elsewhere)
}

/** One that names it goes before one that mentions it, and then the input before the result. */
const better = (a: Place, b: Place) =>
  Number(b.exact) - Number(a.exact) ||
  Number(a.in_result) - Number(b.in_result) ||
  (a.path < b.path ? -1 : Number(a.path > b.path))

/** A host's own name stands in whatever names or mentions it, unless it is too long for a key. */
const withinOf = (keys: ReadonlyArray<string>): string | null => {
  const [key = "", ...others] = keys
  return others.length === 0 && key.startsWith("d:") && !key.includes("~") ? key.slice(2) : null
}

/** The best place where any of the keys stands; null where none does. */
export const placeOf = (run: RunJson, keys: ReadonlyArray<string>): Place | null => {
  const wanted = { keys: new Set(keys), within: withinOf(keys) }
  const { to, rest } = requested(run, wanted)
  const asked = [...to, ...rest].map((one) => ({ ...one, in_result: false }))
  // Most results need not be looked through: the input names what was asked for.
  if (run.result === undefined || asked.some((one) => one.exact)) return asked.toSorted(better)[0] ?? null
  const brought = foundIn(run.result, wanted).map((one) => ({ ...one, in_result: true }))
  return [...asked, ...brought].toSorted(better)[0] ?? null
}
