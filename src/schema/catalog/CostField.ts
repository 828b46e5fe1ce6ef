/**
 * Finds the field of a cost driver in a request.
 *
 * Providers are more lenient than JSON: some ignore the case of names, some read `limit[]` as `limit`, some accept an object for a
 * list. A value that such a provider would count is counted, or the request is refused at that field.
 */
import type { Issue } from "./Contract.ts"
import { foldedName } from "./CostNames.ts"
import { isRecord } from "../json/Json.ts"

export interface FieldValue {
  /** Its path, even if it is left out: `input.limit`. */
  readonly at: string
  /** Undefined if it is left out. */
  readonly value: unknown
  /** It is sent as text, so `false` and `"false"` are the same. */
  readonly isText: boolean
}

/** A part of a request in which a field is looked up. */
export interface FieldRoot {
  readonly value: unknown
  readonly at: string
  readonly isText: boolean
  /** On GET, `query` and `input` together are the query. This tells in which of them a field is. */
  readonly placeOf?: (name: string) => string
}

/** The names of an object by their folded form, in which a lenient provider compares them. */
type Names = ReadonlyMap<string, ReadonlyArray<string>>

const decides = "it determines the price of the call"

/** Maximum number of values read for one call: far above any real request, and a few milliseconds. */
const visitsMax = 10_000

export class FieldReader {
  readonly issues: Array<Issue> = []
  /** A cache, because several drivers read the same objects. */
  private readonly namesByObject = new WeakMap<object, Names>()
  private visits = 0

  private namesOf(record: Readonly<Record<string, unknown>>): Names {
    const cached = this.namesByObject.get(record)
    if (cached !== undefined) return cached
    const names = new Map<string, Array<string>>()
    for (const name of Object.keys(record)) {
      const key = foldedName(name)
      const same = names.get(key)
      if (same === undefined) names.set(key, [name])
      else same.push(name)
    }
    this.namesByObject.set(record, names)
    return names
  }

  private member(record: Readonly<Record<string, unknown>>, name: string, at: string): unknown {
    for (const other of this.namesOf(record).get(foldedName(name)) ?? []) {
      if (other !== name) this.issues.push({ path: `${at}.${other}`, message: `must be called ${name}` })
    }
    return Object.hasOwn(record, name) ? record[name] : undefined
  }

  /** False if too many values were read already, which is an issue. */
  mayLook(at: string): boolean {
    this.visits += 1
    if (this.visits === visitsMax + 1) this.issues.push({ path: at, message: "has more values than can be counted" })
    return this.visits <= visitsMax
  }

  /** All values at the path. A field that is left out is one undefined value, and an empty list is none. */
  values(root: FieldRoot, segments: ReadonlyArray<string>): ReadonlyArray<FieldValue> {
    const [first, ...rest] = segments
    const { value, at, isText } = root
    if (first === undefined) return [{ at, value, isText }]
    if (first === "*") return this.items(root, rest)
    const place = root.placeOf?.(first) ?? `${at}.${first}`
    const member = isRecord(value) ? this.member(value, first, at) : undefined
    // A provider might accept the object inside a list or as JSON text.
    if (Array.isArray(value) || (typeof value === "string" && /^\s*[{[]/.test(value))) {
      this.issues.push({ path: at, message: `must be an object: ${decides}` })
    }
    return this.values({ value: member, at: place, isText }, rest)
  }

  private items({ value, at, isText }: FieldRoot, rest: ReadonlyArray<string>): ReadonlyArray<FieldValue> {
    if (value === undefined || value === null) return []
    // A single value counts as a list of one, and the members of an object as items.
    if (typeof value !== "object") return this.values({ value, at, isText }, rest)
    const values: Array<FieldValue> = []
    for (const [name, item] of Object.entries(value)) {
      if (!this.mayLook(at)) return values
      values.push(...this.values({ value: item, at: `${at}.${name}`, isText }, rest))
    }
    return values
  }
}

/** Whether a field is present and not false. */
export const isPresent = ({ value, isText }: FieldValue): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  !(isText && typeof value === "string" && value.trim().toLowerCase() === "false")
