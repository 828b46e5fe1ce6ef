/**
 * Finds the objects of shared provider accounts that a request names or that an answer has created. Pure.
 *
 * A provider may read a request more leniently than Rungate does. So a field that names an object has exactly one accepted spelling, and
 * every value in it counts.
 */
import type { Issue } from "./Contract.ts"
import type { Endpoint, EndpointResources, ResourceKind } from "./Endpoint.ts"
import { isRecord } from "../json/Json.ts"
import { headerIssue } from "../accounts/Sender.ts"

/** One object that a request names. It must belong to the organization as one of the kinds. */
export interface Named {
  readonly kinds: ReadonlyArray<ResourceKind>
  /** The id as it is in the request. */
  readonly id: string
  /** The path of the field. */
  readonly path: string
}

/** An object that a run created. */
export interface Resource {
  readonly kind: ResourceKind
  readonly id: string
}

/** A page of the objects of one kind that an organization owns, in the order of their ids. */
export interface OwnedPage {
  readonly items: ReadonlyArray<{
    /** Normalized by `resourceId`. */
    readonly id: string
    readonly owned_since: Date
    /** The result of the run that made the object. Null if an operator assigned it, or if the result was erased. */
    readonly made_as: unknown
  }>
  readonly total: number
  /** The id after which the next page begins. Null on the last page. */
  readonly next: string | null
}

/** Whether ids of this kind are unique at one provider only. The others are domains and addresses, which are unique everywhere. */
export const isOfProvider = (kind: ResourceKind): boolean => kind === "account" || kind === "job"

/** Longer than any provider's id. No id has spaces or control characters. */
const idPattern = /^[\x21-\x7e]{1,320}$/

/** The id as it is stored and compared. Null if it can't be an id. Addresses and domains ignore upper and lower case. */
export const resourceId = (kind: ResourceKind, id: string): string | null =>
  !idPattern.test(id) ? null : isOfProvider(kind) ? id : id.toLowerCase()

/** Maximum number of objects that a request may name. No batch of a provider is larger. */
export const namedMax = 1_000
/** Maximum number of objects that are read from an answer. */
export const madeMax = 1_000

const loose = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "")
/** Whether a lenient server would read `key` as `field`: it reads `accountId`, `Account_ID` and `account_id[]` as `account_id`. */
const isSpelling = (key: string, field: string): boolean =>
  loose(key) === loose(field) || loose(key.replace(/\[.*/s, "")) === loose(field)

type Use = NonNullable<EndpointResources["uses"]>[number]

interface NamedObjects {
  readonly named: Array<Named>
  readonly issues: Array<Issue>
}

const join = (at: string, part: string | number): string => (at === "" ? String(part) : `${at}.${part}`)

/** The noun for each kind in messages. */
export const nouns: Readonly<Record<ResourceKind, string>> = {
  inbox: "an inbox",
  domain: "a domain",
  sender: "a sender",
  account: "a connected account",
  job: "a job"
}

const missing = (kind: ResourceKind, path: string): Issue => ({ path, message: `is required: it names ${nouns[kind]}` })

/** Every value of a field counts: items of a list, numbers, and parts of a comma-separated text. */
const readLeaf = ({ kind, required }: Use, value: unknown, at: string, { named, issues }: NamedObjects): void => {
  const add = (id: string) => named.push({ kinds: [kind], id, path: at })
  if (value === "") issues.push({ path: at, message: "must not be empty" })
  else if (value === undefined || value === null) {
    if (required === true) issues.push(missing(kind, at))
  } else if (Array.isArray(value)) {
    if (value.length === 0 && required === true) issues.push(missing(kind, at))
    for (const [index, one] of value.entries()) readLeaf(use(kind), one, join(at, index), { named, issues })
  } else if (typeof value === "string") {
    if (kind === "sender") add(value)
    else for (const part of value.split(",")) add(part.trim())
  } else if (typeof value === "number" && Number.isSafeInteger(value)) add(String(value))
  else issues.push({ path: at, message: "must be text" })
}
const use = (kind: ResourceKind): Use => ({ kind, field: "." })

/** The headers of a message must not name another sender. They are a list of names and values, or an object. */
const readHeaders = (message: Readonly<Record<string, unknown>>, at: string, issues: Array<Issue>): void => {
  for (const [key, headers] of Object.entries(message)) {
    if (loose(key) !== "headers" || headers === null) continue
    const where = join(at, key)
    const check = (name: unknown, value: unknown, path: string) => {
      const wrong = typeof name === "string" ? headerIssue(name, value) : "must have a name"
      if (wrong !== null) issues.push({ path, message: wrong })
    }
    if (Array.isArray(headers)) {
      for (const [index, header] of headers.entries()) {
        const fields = isRecord(header) ? Object.entries(header) : []
        const names = fields.filter(([field]) => loose(field) === "name")
        const values = fields.filter(([field]) => loose(field) === "value")
        if (names.length === 1 && fields.length === names.length + values.length)
          check(names[0]?.[1], values[0]?.[1], join(where, index))
        else issues.push({ path: join(where, index), message: "must be an object with a name and a value" })
      }
    } else if (isRecord(headers)) {
      for (const [name, value] of Object.entries(headers)) check(name, value, join(where, name))
    } else issues.push({ path: where, message: "must be a list or an object of headers" })
  }
}

/** Follows a dotted field. A list counts as each of its items, whether or not the field says so. */
const follow = (
  one: Use,
  value: unknown,
  [segment, ...rest]: ReadonlyArray<string>,
  at: string,
  objects: NamedObjects
): void => {
  if (segment === undefined) return readLeaf(one, value, at, objects)
  if (Array.isArray(value)) {
    const next = segment === "*" ? rest : [segment, ...rest]
    if (value.length === 0 && one.required === true) objects.issues.push(missing(one.kind, at))
    for (const [index, item] of value.entries()) follow(one, item, next, join(at, index), objects)
    return
  }
  if (segment === "*") return follow(one, value, rest, at, objects)
  if (!isRecord(value)) {
    // A value that is neither an object nor a list has no fields.
    if (value !== undefined && value !== null) objects.issues.push({ path: at, message: "must be an object" })
    else if (one.required === true) readLeaf(one, undefined, join(at, segment), objects)
    return
  }
  for (const key of Object.keys(value))
    if (key !== segment && isSpelling(key, segment))
      objects.issues.push({ path: join(at, key), message: `must be written ${segment}` })
  if (one.kind === "sender" && rest.every((part) => part === "*")) readHeaders(value, at, objects.issues)
  follow(one, Object.hasOwn(value, segment) ? value[segment] : undefined, rest, join(at, segment), objects)
}

export interface NamingRequest {
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly input: unknown
}

/** Looks up a field in the part of the request where it belongs. On GET, the query may be in `query`, in `input`, or in both. */
const follows = (one: Use, endpoint: Pick<Endpoint, "method">, request: NamingRequest, objects: NamedObjects): void => {
  const [place, ...rest] = one.field.split(".")
  if (place === "path") return follow(one, request.path, rest, "path", objects)
  const inQuery = place === "query"
  const segments = inQuery ? rest : one.field === "." ? [] : one.field.split(".")
  if (endpoint.method === "GET") {
    const input = isRecord(request.input) ? request.input : {}
    const first = segments[0] ?? ""
    const spelled = (values: object) => Object.keys(values).some((key) => isSpelling(key, first))
    if (spelled(request.query)) follow(one, request.query, segments, "query", objects)
    if (spelled(input) || !spelled(request.query)) follow(one, input, segments, "input", objects)
    return
  }
  if (inQuery) return follow(one, request.query, segments, "query", objects)
  follow(one, request.input, segments, "input", objects)
}

/** Fields in the wrong part of the request. A server that merges body and query would read them anyway. */
const misplacedFields = (uses: ReadonlyArray<Use>, endpoint: Pick<Endpoint, "method">, request: NamingRequest) => {
  if (endpoint.method === "GET") return []
  const fields = (inQuery: boolean) =>
    uses
      .filter(({ field }) => field.startsWith("query.") === inQuery && !field.startsWith("path."))
      .map(({ field }) => field.split(".").filter((part) => part !== "*" && part !== "query")[0] ?? "")
  const inInput = fields(false)
  const inQuery = fields(true)
  const misplaced = (values: unknown, where: string, here: ReadonlyArray<string>, there: ReadonlyArray<string>) =>
    Object.keys(isRecord(values) ? values : {}).flatMap((key): ReadonlyArray<Issue> => {
      const same = (field: string) => isSpelling(key, field)
      return there.some(same) && !here.some(same)
        ? [
            {
              path: `${where}.${key}`,
              message: "does not belong here: this endpoint expects it in another part of the request"
            }
          ]
        : []
    })
  return [
    ...misplaced(request.query, "query", inQuery, inInput),
    ...misplaced(request.input, "input", inInput, inQuery)
  ]
}

/** The objects that a raw request names, and the issues of the fields that name them. */
export const namedBy = (
  uses: ReadonlyArray<Use>,
  endpoint: Pick<Endpoint, "method">,
  request: NamingRequest
): { readonly named: ReadonlyArray<Named>; readonly issues: ReadonlyArray<Issue> } => {
  const objects: NamedObjects = { named: [], issues: [] }
  for (const one of uses) follows(one, endpoint, request, objects)
  objects.issues.push(...misplacedFields(uses, endpoint, request))
  if (objects.named.length > namedMax)
    return { named: [], issues: [{ path: "input", message: `must name at most ${namedMax} objects` }] }
  return objects
}

const collect = (value: unknown, [segment, ...rest]: ReadonlyArray<string>, ids: Set<string>): void => {
  if (ids.size > madeMax) return
  if (Array.isArray(value)) {
    const next = segment === undefined ? [] : segment === "*" ? rest : [segment, ...rest]
    for (const item of value) {
      if (ids.size > madeMax) return
      collect(item, next, ids)
    }
  } else if (segment === undefined) {
    if (typeof value === "string") ids.add(value)
    // A larger number was rounded when it was parsed, and might be another object's id.
    else if (typeof value === "number" && Number.isSafeInteger(value)) ids.add(String(value))
  } else if (segment === "*" && isRecord(value)) for (const item of Object.values(value)) collect(item, rest, ids)
  else if (isRecord(value) && Object.hasOwn(value, segment)) collect(value[segment], rest, ids)
}

/** The objects that a call created, read from its answer at the paths in `makes`. Invalid ids are left out. */
export const madeBy = (makes: NonNullable<EndpointResources["makes"]>, answer: unknown): ReadonlyArray<Resource> =>
  makes
    .flatMap(({ kind, at }) => {
      const ids = new Set<string>()
      collect(answer, at.split("."), ids)
      return [...ids].filter((id) => resourceId(kind, id) !== null).map((id): Resource => ({ kind, id }))
    })
    .slice(0, madeMax)
