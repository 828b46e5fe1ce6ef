/**
 * Finds the objects of shared provider accounts that a request names or that an answer has created. Pure.
 *
 * A provider may read a request more leniently than we do. So a field that names an object has exactly one accepted spelling, and every
 * value in it counts.
 */
import type { Issue } from "./Contract.ts"
import type { Endpoint, EndpointResources, ResourceKind } from "./Endpoint.ts"
import { isRecord } from "../json/Json.ts"
import { headerIssue } from "../accounts/Sender.ts"

/** One object that a request names. It must belong to the organization as one of the kinds. */
export interface Named {
  readonly kinds: ReadonlyArray<ResourceKind>
  /** As the request writes it. */
  readonly id: string
  /** Where it stands in the request's body. */
  readonly path: string
}

/** An object that a run has made. */
export interface Made {
  readonly kind: ResourceKind
  readonly id: string
}

/** Ids of these kinds mean something at one provider only. The others are names of the whole world. */
export const isOfProvider = (kind: ResourceKind): boolean => kind === "account" || kind === "job"

/** Longer than any provider's id. Spaces and control characters are in none. */
const idPattern = /^[\x21-\x7e]{1,320}$/

/** The id as it is stored and compared; null when no object can have it. Mail and domain names know no case. */
export const resourceId = (kind: ResourceKind, id: string): string | null =>
  !idPattern.test(id) ? null : isOfProvider(kind) ? id : id.toLowerCase()

/** One request names at most this many objects: more than any batch has. */
export const namedMax = 1_000
/** One answer makes at most this many. */
export const madeMax = 1_000

const loose = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "")
/** Lenient servers take `accountId`, `Account_ID` and `account_id[]` for `account_id`. */
const isSpelling = (key: string, field: string): boolean =>
  loose(key) === loose(field) || loose(key.replace(/\[.*/s, "")) === loose(field)

type Use = NonNullable<EndpointResources["uses"]>[number]

interface Found {
  readonly named: Array<Named>
  readonly issues: Array<Issue>
}

const join = (at: string, part: string | number): string => (at === "" ? String(part) : `${at}.${part}`)

/** What messages call an object of each kind. */
export const nouns: Readonly<Record<ResourceKind, string>> = {
  inbox: "an inbox",
  domain: "a domain",
  sender: "a sender",
  account: "a connected account",
  job: "a job"
}

const missing = (kind: ResourceKind, path: string): Issue => ({ path, message: `is required: it names ${nouns[kind]}` })

/** Every value of a field counts: items of a list, numbers, and parts of a comma-separated text. */
const readLeaf = ({ kind, required }: Use, value: unknown, at: string, { named, issues }: Found): void => {
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

/** A message's own headers must not name another sender. They are a list of names and values, or an object. */
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
  found: Found
): void => {
  if (segment === undefined) return readLeaf(one, value, at, found)
  if (Array.isArray(value)) {
    const next = segment === "*" ? rest : [segment, ...rest]
    if (value.length === 0 && one.required === true) found.issues.push(missing(one.kind, at))
    for (const [index, item] of value.entries()) follow(one, item, next, join(at, index), found)
    return
  }
  if (segment === "*") return follow(one, value, rest, at, found)
  if (!isRecord(value)) {
    // Neither an object nor a list of them: nothing in it has a name.
    if (value !== undefined && value !== null) found.issues.push({ path: at, message: "must be an object" })
    else if (one.required === true) readLeaf(one, undefined, join(at, segment), found)
    return
  }
  for (const key of Object.keys(value))
    if (key !== segment && isSpelling(key, segment))
      found.issues.push({ path: join(at, key), message: `must be written ${segment}` })
  if (one.kind === "sender" && rest.every((part) => part === "*")) readHeaders(value, at, found.issues)
  follow(one, Object.hasOwn(value, segment) ? value[segment] : undefined, rest, join(at, segment), found)
}

export interface NamingRequest {
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly input: unknown
}

/** Finds the place that a field is in. The query of a GET request is written as `query`, as `input`, or as both. */
const follows = (one: Use, endpoint: Pick<Endpoint, "method">, asked: NamingRequest, found: Found): void => {
  const [place, ...rest] = one.field.split(".")
  if (place === "path") return follow(one, asked.path, rest, "path", found)
  const inQuery = place === "query"
  const segments = inQuery ? rest : one.field === "." ? [] : one.field.split(".")
  if (endpoint.method === "GET") {
    const input = isRecord(asked.input) ? asked.input : {}
    const first = segments[0] ?? ""
    const spelled = (values: object) => Object.keys(values).some((key) => isSpelling(key, first))
    if (spelled(asked.query)) follow(one, asked.query, segments, "query", found)
    if (spelled(input) || !spelled(asked.query)) follow(one, input, segments, "input", found)
    return
  }
  if (inQuery) return follow(one, asked.query, segments, "query", found)
  follow(one, asked.input, segments, "input", found)
}

/** A server that merges body and query would take a field of the one for that of the other. */
const strays = (uses: ReadonlyArray<Use>, endpoint: Pick<Endpoint, "method">, asked: NamingRequest) => {
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
        ? [{ path: `${where}.${key}`, message: "does not belong here: this endpoint takes it elsewhere" }]
        : []
    })
  return [...misplaced(asked.query, "query", inQuery, inInput), ...misplaced(asked.input, "input", inInput, inQuery)]
}

/** The objects that a raw request names, and what is wrong with how it names them. */
export const namedBy = (
  uses: ReadonlyArray<Use>,
  endpoint: Pick<Endpoint, "method">,
  asked: NamingRequest
): { readonly named: ReadonlyArray<Named>; readonly issues: ReadonlyArray<Issue> } => {
  const found: Found = { named: [], issues: [] }
  for (const one of uses) follows(one, endpoint, asked, found)
  found.issues.push(...strays(uses, endpoint, asked))
  if (found.named.length > namedMax)
    return { named: [], issues: [{ path: "input", message: `must name at most ${namedMax} objects` }] }
  return found
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
    // A longer number was rounded when it was read, and would be another object's id.
    else if (typeof value === "number" && Number.isSafeInteger(value)) ids.add(String(value))
  } else if (segment === "*" && isRecord(value)) for (const item of Object.values(value)) collect(item, rest, ids)
  else if (isRecord(value) && Object.hasOwn(value, segment)) collect(value[segment], rest, ids)
}

/** What an answer has made, as `makes` says where to look. Ids that no object can have are left out, and the rest is bounded. */
export const madeBy = (makes: NonNullable<EndpointResources["makes"]>, answer: unknown): ReadonlyArray<Made> =>
  makes
    .flatMap(({ kind, at }) => {
      const ids = new Set<string>()
      collect(answer, at.split("."), ids)
      return [...ids].filter((id) => resourceId(kind, id) !== null).map((id): Made => ({ kind, id }))
    })
    .slice(0, madeMax)
