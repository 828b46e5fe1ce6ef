/**
 * The subjects of a run's input or result as rows of the index: a hash, where it was found, and whether the value names it.
 *
 * The same code reads what is written and what is asked for, so both sides agree. The hash covers the organization: one organization's
 * subjects are nowhere near another's. Rows hold no value, so what is erased leaves nothing to read.
 */
import { recipientFields, touchCapabilities } from "../schema/History.ts"
import { isRecord, parsedOrText } from "../schema/Json.ts"
import { extract, type Found } from "../schema/subjects/Extract.ts"

export interface SubjectRow {
  readonly subject: bigint
  readonly exact: boolean
  readonly path: string
}

/** Longer ones are walked as text, from their beginning: nobody asks for what stands at the end of a book. */
const jsonCharsMax = 2_000_000
const textCharsMax = 200_000
const pathCharsMax = 300
/** Of one input or result: an answer of a few hundred people. */
const rowsMax = 1_000

/** The index key of a subject (`e:ada@example.com`) in an organization. */
export const subjectHash = (org_id: string, key: string): bigint =>
  BigInt.asIntN(64, Bun.hash.xxHash64(`${org_id} ${key}`))

const valueOf = (json: string): unknown => {
  if (json.length > jsonCharsMax) return json.slice(0, textCharsMax)
  const value = parsedOrText(json)
  return value === json ? json.slice(0, textCharsMax) : value
}

/** Postgres takes no half of a letter: a turn that held one would fail for ever. */
const shortened = (path: string) => (path.length > pathCharsMax ? path.slice(0, pathCharsMax).toWellFormed() : path)

const foundIn = (value: unknown): ReadonlyArray<Found> => {
  const { found } = extract(value)
  return found.length > rowsMax ? found.slice(0, rowsMax) : found
}

const rowsOf = (org_id: string, value: unknown): ReadonlyArray<SubjectRow> =>
  foundIn(value).map(({ key, path, exact }) => ({ subject: subjectHash(org_id, key), exact, path: shortened(path) }))

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
const bestOf = (found: ReadonlyArray<SubjectRow>): ReadonlyArray<SubjectRow> => {
  const rows = new Map<bigint, SubjectRow>()
  for (const row of found) {
    const known = rows.get(row.subject)
    if (known === undefined || (row.exact && !known.exact)) rows.set(row.subject, row)
  }
  return Array.from(rows.values())
}

/**
 * Of what is asked for, each subject once. Both are JSON texts; a run's plan holds a raw request's path and query. Of a touch, a place among
 * its recipients goes before any other, even one that names the subject: by it one knows whether the touch went there.
 */
export const requestSubjects = (
  org_id: string,
  input: string,
  plan: string,
  /** Null of a raw run. */
  capability: string | null = null
): ReadonlyArray<SubjectRow> => {
  if (capability !== null && touchCapabilities.includes(capability)) {
    const [recipients, rest] = parted(valueOf(input))
    const to = rowsOf(org_id, recipients)
    const known = new Set(to.map((row) => row.subject))
    return [...to, ...rowsOf(org_id, rest).filter((row) => !known.has(row.subject))]
  }
  // Most plans hold no such request and are not worth parsing.
  const around = plan.includes('"raw"') ? rowsOf(org_id, addressed(valueOf(plan))) : []
  const asked = rowsOf(org_id, valueOf(input))
  return around.length === 0 ? asked : bestOf([...asked, ...around])
}

/** Of what was delivered, a JSON text. */
export const resultSubjects = (org_id: string, result: string | null): ReadonlyArray<SubjectRow> =>
  result === null ? [] : rowsOf(org_id, valueOf(result))

/** Of a whole run as the index holds them: for each subject the best of its places. */
export const runSubjects = (
  org_id: string,
  {
    input,
    plan,
    result,
    capability
  }: {
    readonly input: string
    readonly plan: string
    readonly result: string | null
    readonly capability: string | null
  }
): ReadonlyArray<SubjectRow & { readonly in_result: boolean }> => {
  const best = new Map(
    requestSubjects(org_id, input, plan, capability).map((row) => [row.subject, { ...row, in_result: false }])
  )
  for (const row of resultSubjects(org_id, result)) {
    const known = best.get(row.subject)
    if (known === undefined || (row.exact && !known.exact)) best.set(row.subject, { ...row, in_result: true })
  }
  return [...best.values()]
}

/** Two columns of the mail: lists, because Postgres reads them in half the time that JSON takes. */
export interface MailedSubjects {
  /** Hashes, with commas between them. */
  readonly keys: string
  /** Of each `1` where the value names the subject itself, else `0`, and the path. Between them the character 1, which no path has. */
  readonly places: string
}

/** Null without any. */
export const mailedSubjects = (org_id: string, result: string | null): MailedSubjects | null => {
  if (result === null) return null
  let keys = ""
  let places = ""
  for (const { key, path, exact } of foundIn(valueOf(result))) {
    const parted = keys !== ""
    keys += `${parted ? "," : ""}${subjectHash(org_id, key)}`
    places += `${parted ? "\u0001" : ""}${exact ? 1 : 0}${shortened(path)}`
  }
  return keys === "" ? null : { keys, places }
}
