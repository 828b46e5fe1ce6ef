/**
 * Finds what a driver's field names in a request, and where.
 *
 * Providers read more leniently than JSON does: some ignore the case of names, some read `limit[]` as `limit`, some take an
 * object for a list. A value that such a provider would count is found, or the request is refused at that place.
 */
import type { Issue } from "./Contract.ts"
import { foldedName } from "./CostNames.ts"
import { isRecord } from "./Json.ts"

export interface FieldValue {
  /** Where it is, or would be: `input.limit`. */
  readonly at: string
  /** Undefined when it is left out. */
  readonly value: unknown
  /** It travels as text: `false` and `"false"` are the same there. */
  readonly isText: boolean
}

/** A request, as far as a field can point into it. */
export interface FieldRoot {
  readonly value: unknown
  readonly at: string
  readonly isText: boolean
  /** On GET the query is one object from two places, so a field's place depends on the field. */
  readonly placeOf?: (name: string) => string
}

/** Names of an object by how a lenient reader compares them. */
type Names = ReadonlyMap<string, ReadonlyArray<string>>

export class FieldReader {
  readonly issues: Array<Issue> = []
  /** Several drivers look into the same objects. */
  private readonly known = new WeakMap<object, Names>()

  private namesOf(record: Readonly<Record<string, unknown>>): Names {
    const before = this.known.get(record)
    if (before !== undefined) return before
    const names = new Map<string, Array<string>>()
    for (const name of Object.keys(record)) {
      const key = foldedName(name)
      const same = names.get(key)
      if (same === undefined) names.set(key, [name])
      else same.push(name)
    }
    this.known.set(record, names)
    return names
  }

  private member(record: Readonly<Record<string, unknown>>, name: string, at: string): unknown {
    for (const other of this.namesOf(record).get(foldedName(name)) ?? []) {
      if (other !== name) this.issues.push({ path: `${at}.${other}`, message: `must be called ${name}` })
    }
    return Object.hasOwn(record, name) ? record[name] : undefined
  }

  /** All values that the segments lead to. A field that is left out is one undefined value; a list without items is none. */
  values(root: FieldRoot, segments: ReadonlyArray<string>): ReadonlyArray<FieldValue> {
    const [first, ...rest] = segments
    const { value, at, isText } = root
    if (first === undefined) return [{ at, value, isText }]
    const next = (inner: unknown, place: string) => this.values({ value: inner, at: place, isText }, rest)
    if (first === "*") {
      if (value === undefined || value === null) return []
      if (Array.isArray(value)) return value.flatMap((item, index) => next(item, `${at}.${index}`))
      // Where a list is expected, one item alone counts as a list of one, and numbered members as its items.
      return isRecord(value)
        ? Object.entries(value).flatMap(([name, item]) => next(item, `${at}.${name}`))
        : next(value, at)
    }
    // An object that stands in a list is found all the same.
    if (Array.isArray(value)) {
      return value.flatMap((item, index) => this.values({ value: item, at: `${at}.${index}`, isText }, segments))
    }
    const place = root.placeOf?.(first) ?? `${at}.${first}`
    if (isRecord(value)) return next(this.member(value, first, at), place)
    // A provider might read text as the JSON that it is.
    if (typeof value === "string" && /^\s*[{[]/.test(value)) {
      this.issues.push({ path: at, message: "must be an object, not text: it decides what the call costs" })
    }
    return next(undefined, place)
  }
}

/** Whether a field is there and says more than false. */
export const isPresent = ({ value, isText }: FieldValue): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  !(isText && typeof value === "string" && value.trim().toLowerCase() === "false")
