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

const decides = "it decides what the call costs"

/** Values that are looked at for one call: far above any real request, and a few milliseconds. */
const visitsMax = 10_000

export class FieldReader {
  readonly issues: Array<Issue> = []
  /** Several drivers look into the same objects. */
  private readonly known = new WeakMap<object, Names>()
  private visits = 0

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

  /** False when too much was looked at already, which is an issue by itself. */
  mayLook(at: string): boolean {
    this.visits += 1
    if (this.visits === visitsMax + 1) this.issues.push({ path: at, message: "has more values than can be counted" })
    return this.visits <= visitsMax
  }

  /** All values that the segments lead to. A field that is left out is one undefined value; a list without items is none. */
  values(root: FieldRoot, segments: ReadonlyArray<string>): ReadonlyArray<FieldValue> {
    const [first, ...rest] = segments
    const { value, at, isText } = root
    if (first === undefined) return [{ at, value, isText }]
    if (first === "*") return this.items(root, rest)
    const place = root.placeOf?.(first) ?? `${at}.${first}`
    const member = isRecord(value) ? this.member(value, first, at) : undefined
    // A provider might take the object out of the list, or out of the text.
    if (Array.isArray(value) || (typeof value === "string" && /^\s*[{[]/.test(value))) {
      this.issues.push({ path: at, message: `must be an object: ${decides}` })
    }
    return this.values({ value: member, at: place, isText }, rest)
  }

  private items({ value, at, isText }: FieldRoot, rest: ReadonlyArray<string>): ReadonlyArray<FieldValue> {
    if (value === undefined || value === null) return []
    // Where a list is expected, one item alone counts as a list of one, and numbered members as its items.
    if (typeof value !== "object") return this.values({ value, at, isText }, rest)
    const found: Array<FieldValue> = []
    for (const [name, item] of Object.entries(value)) {
      if (!this.mayLook(at)) return found
      found.push(...this.values({ value: item, at: `${at}.${name}`, isText }, rest))
    }
    return found
  }
}

/** Whether a field is there and says more than false. */
export const isPresent = ({ value, isText }: FieldValue): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  !(isText && typeof value === "string" && value.trim().toLowerCase() === "false")
