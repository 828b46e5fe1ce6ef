/**
 * Extracts the subjects of a run: the keys by which it is indexed, and the place of each.
 *
 * Indexing and queries use the same code, so they agree. The index stores hashes of organization and key. Organizations therefore share no
 * terms, and an erased run leaves nothing readable.
 */
import { recipientFields, touchCapabilities } from "../../../schema/runs/History.ts"
import { isRecord } from "../../../schema/json/Json.ts"
import { elsewhere, named, recipient } from "../../../schema/segments/Segment.ts"
import { extract, type Mention, type Wanted } from "../../../schema/subjects/Extract.ts"

/** Version of the subject rules. Increment it to rebuild all segments of subjects. */
export const subjectRules = 1

/** A run's parsed JSON. Very long texts are cut and not parsed. */
export interface RunJson {
  readonly capability: string | null
  readonly input: unknown
  /** The plan of a raw run, which contains its path and query. */
  readonly plan: unknown
  /** Undefined if the run has no result. */
  readonly result: unknown
}

/** Where a subject occurs. */
export interface Place extends Mention {
  readonly in_result: boolean
}

/** Subjects per input or result: enough for a few hundred people. */
const rowsMax = 1_000

/** The index's term for a subject's key (such as `e:ada@example.com`) in an organization: 48 bits. */
export const subjectTerm = (org_id: string, key: string): number =>
  Number(BigInt.asUintN(48, Bun.hash.xxHash64(`${org_id} ${key}`)))

const subjectsOf = (value: unknown, keys: Wanted | null): ReadonlyArray<Mention> => {
  const { mentions } = extract(value, keys)
  return mentions.length > rowsMax ? mentions.slice(0, rowsMax) : mentions
}

/** The values in a raw run's path and query. */
const pathAndQuery = (plan: unknown): unknown => {
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

/** Splits the input of a touch into its recipients and the rest. */
const splitRecipients = (input: unknown): readonly [unknown, unknown] => {
  if (!isRecord(input)) return [null, input]
  const members = (to: boolean) =>
    Object.fromEntries(Object.entries(input).filter(([name]) => recipientFields.includes(name) === to))
  return [members(true), members(false)]
}

/** For each subject the first place that names it, or else the first that mentions it. */
const bestOf = (mentions: ReadonlyArray<Mention>): ReadonlyArray<Mention> => {
  const best = new Map<string, Mention>()
  for (const one of mentions) {
    const previous = best.get(one.key)
    if (previous === undefined || (one.exact && !previous.exact)) best.set(one.key, one)
  }
  return Array.from(best.values())
}

/**
 * The subjects of a run's request, each once. Recipients of a touch are separate. A place among the recipients wins over every other place,
 * because it tells whether the touch went to the subject.
 */
const requested = (
  { capability, input, plan }: RunJson,
  keys: Wanted | null
): { readonly to: ReadonlyArray<Mention>; readonly rest: ReadonlyArray<Mention> } => {
  if (capability !== null && touchCapabilities.includes(capability)) {
    const [recipients, others] = splitRecipients(input)
    const to = subjectsOf(recipients, keys)
    const recipientKeys = new Set(to.map((one) => one.key))
    return { to, rest: subjectsOf(others, keys).filter((one) => !recipientKeys.has(one.key)) }
  }
  const inAddress = capability === null ? subjectsOf(pathAndQuery(plan), keys) : []
  const inInput = subjectsOf(input, keys)
  return { to: [], rest: inAddress.length === 0 ? inInput : bestOf([...inInput, ...inAddress]) }
}

/** Calls `add` for each of a run's subjects, some twice, with the flags of its place (schema/segments/Segment.ts). */
export const eachSubject = (run: RunJson, add: (key: string, flags: number) => void) => {
  const { to, rest } = requested(run, null)
  for (const { key, exact } of to) add(key, recipient | (exact ? named : elsewhere))
  for (const { key, exact } of rest) add(key, exact ? named : elsewhere)
  if (run.result !== undefined) for (const { key } of subjectsOf(run.result, null)) add(key, elsewhere)
}

/** Places that name the subject come before those that mention it, then the input before the result. */
const better = (a: Place, b: Place) =>
  Number(b.exact) - Number(a.exact) ||
  Number(a.in_result) - Number(b.in_result) ||
  (a.path < b.path ? -1 : Number(a.path > b.path))

/** The text that every place of a host contains, to skip other values quickly. Null if the name is too long for a key. */
const withinOf = (keys: ReadonlyArray<string>): string | null => {
  const [key = "", ...others] = keys
  return others.length === 0 && key.startsWith("d:") && !key.includes("~") ? key.slice(2) : null
}

/** The best place of any of the keys; null if none occurs. */
export const placeOf = (run: RunJson, keys: ReadonlyArray<string>): Place | null => {
  const wanted = { keys: new Set(keys), within: withinOf(keys) }
  const { to, rest } = requested(run, wanted)
  const inRequest = [...to, ...rest].map((one) => ({ ...one, in_result: false }))
  // Usually the input names the subject, so the result is not searched.
  if (run.result === undefined || inRequest.some((one) => one.exact)) return inRequest.toSorted(better)[0] ?? null
  const inResult = subjectsOf(run.result, wanted).map((one) => ({ ...one, in_result: true }))
  return [...inRequest, ...inResult].toSorted(better)[0] ?? null
}
