/**
 * The plan of a raw call, fixed at admission: the request to send and its maximum cost. Pure.
 *
 * A path value is percent-encoded and fills only its own placeholder. A value that would change other path segments, such as "..", is
 * refused. Callers can set neither headers nor the host.
 */
import { Schema } from "effect"
import type { CallInput } from "../catalog/CallCost.ts"
import { filledIn } from "../catalog/CostDriver.ts"
import type { Issue } from "../catalog/Contract.ts"
import { bodyTypes, type Endpoint, EndpointResources, methods, resourceKinds } from "../catalog/Endpoint.ts"
import { isRecord } from "../json/Json.ts"
import { oneLineOf, shownName } from "../json/StorableText.ts"
import * as Money from "../money/Money.ts"
import { doubledName } from "../json/JsonNames.ts"
import { type Cap, capIssue, holdOf, rateCardOf } from "./RawHold.ts"
import { defined } from "../defined.ts"
import { didYouMean } from "../suggestion.ts"

export const RawPlan = Schema.Struct({
  method: Schema.Literals(methods),
  /** The endpoint's path in the catalog. */
  endpoint: Schema.String,
  /** The origin that serves it, if not that of the base URL. */
  origin: Schema.optionalKey(Schema.String),
  /** The filled path, percent-encoded, relative to the provider's base URL; an actor's name for `actor_input`. */
  path: Schema.String,
  query: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  body_type: Schema.Literals(bodyTypes),
  encoding: Schema.Literals(["json", "form", "multipart"]),
  /** Whether the run's input is sent as the body. */
  has_body: Schema.Boolean,
  /** Decimal strings in USD. `estimate` is null when the provider publishes no rates. */
  hold: Schema.String,
  estimate: Schema.NullOr(Schema.String),
  /** The estimate by the rate card, with which a reported cost is compared. Absent if the report and the rate have different units. */
  rated: Schema.optionalKey(Schema.String),
  /** The price of a credit at admission, which converts a reported cost. Absent if the provider has no credits. */
  credit: Schema.optionalKey(Schema.String),
  /** Sentences about the fields that were filled in. Absent if none was. */
  filled: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Where the answer has the ids of the objects that the call creates. The organization owns them from then on. */
  makes: EndpointResources.fields.makes,
  /** The objects in the service's account that the request names. Absent if it names none. */
  uses: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ kinds: Schema.Array(Schema.Literals(resourceKinds)), id: Schema.String, path: Schema.String })
    )
  )
})
export type RawPlan = typeof RawPlan.Type

export interface RawRequest extends CallInput {
  /** The input as the caller wrote it. This text is sent to the provider. */
  readonly input_text?: string
}

/** Longer than any identifier, shorter than any server's limit for a request line. */
const valueLengthMax = 4_000

const scalar = (value: unknown): string | null =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : null

const hasControl = (text: string, allowed = ""): boolean => {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if ((code < 0x20 || code === 0x7f) && !allowed.includes(character)) return true
  }
  return false
}

/** Why a value can't be in a path, or null. `.` and `..` are refused, because servers resolve them even if they are percent-encoded. */
const unfit = (text: string): string | null => {
  if (text === "") return "must not be empty"
  if (text.length > valueLengthMax) return `must not be longer than ${valueLengthMax} characters`
  if (!text.isWellFormed()) return "must be well-formed text"
  if (hasControl(text)) return "must not contain control characters"
  // Proxies may decode more than once.
  let bare = text
  for (let round = 0; round < 3; round++) bare = bare.replace(/%2e/gi, ".").replace(/%25/g, "%")
  if (/%([01][0-9a-f]|7f)/i.test(bare)) return "must not contain control characters"
  return /^\.{1,2}(;.*)?$/.test(bare) ||
    /(^|[\\/])\.{1,2}([\\/;]|$)/.test(bare.replace(/%2f/gi, "/").replace(/%5c/gi, "\\"))
    ? "must not be . or .. or contain them as a path segment"
    : null
}

const placeholder = /\{([^{}]+)\}/g
export const placeholdersOf = (path: string): ReadonlyArray<string> =>
  [...path.matchAll(placeholder)].map((match) => match[1] ?? "")

const fill = (endpoint: Endpoint, values: Readonly<Record<string, unknown>>, issues: Array<Issue>): string =>
  endpoint.path.replace(placeholder, (_whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    const text = scalar(value)
    const wrong =
      value === undefined || value === null ? "is required" : text === null ? "must be text or a number" : unfit(text)
    if (wrong !== null) issues.push({ path: `path.${name}`, message: wrong })
    return encodeURIComponent(wrong === null ? (text ?? "") : "_")
  })

const pairs = (where: string, values: Readonly<Record<string, unknown>>, issues: Array<Issue>) =>
  Object.entries(values).flatMap(([name, value]): ReadonlyArray<readonly [string, string]> => {
    if (value === null || value === undefined) return []
    const texts = (Array.isArray(value) ? value : [value]).map((one) => scalar(one) ?? JSON.stringify(one))
    const wrong = [name, ...texts].some((text) => !text.isWellFormed() || hasControl(text, "\t\r\n"))
    if (wrong) issues.push({ path: `${where}.${shownName(name)}`, message: "must be text without control characters" })
    return texts.map((text) => [name, text] as const)
  })

export interface Checks {
  readonly path: (value: unknown) => ReadonlyArray<Issue>
  readonly query: (value: unknown) => ReadonlyArray<Issue>
  readonly input: (value: unknown) => ReadonlyArray<Issue>
}

const under = (where: string, issues: ReadonlyArray<Issue>) =>
  issues.map(({ path, message }) => ({ path: path === "" ? where : `${where}.${path}`, message }))

/** Checks the query. On a GET endpoint, `input` and `query` together are the query. */
const queryIssues = (request: RawRequest, isGet: boolean, checks: Checks): ReadonlyArray<Issue> => {
  if (!isGet) return under("query", checks.query(request.query))
  if (!isRecord(request.input)) return [{ path: "input", message: "must be an object: it becomes the query" }]
  const input = request.input
  const twice = Object.keys(request.query).filter((name) => Object.hasOwn(input, name))
  const merged = { ...request.query, ...input }
  return [
    ...twice.map((name) => ({ path: `query.${shownName(name)}`, message: "is also in input; give it once" })),
    ...checks.query(merged).map(({ path, message }) => {
      const inQuery = Object.hasOwn(request.query, path.split(".")[0] ?? "")
      return { path: inQuery ? `query.${path}` : path === "" ? "input" : `input.${path}`, message }
    })
  ]
}

const bodyIssues = (endpoint: Endpoint, input: unknown, checks: Checks): ReadonlyArray<Issue> => {
  if (endpoint.body !== null) return under("input", checks.input(input))
  if (!isRecord(input)) return [{ path: "input", message: "must be an object" }]
  // The schema of an actor may not be loaded yet. Then the actor itself checks its input.
  if (endpoint.body_type === "actor_input" || Object.keys(input).length === 0) return []
  return [{ path: "input", message: "must be {}: this endpoint takes no body; put parameters into query" }]
}

/** Nobody reads more issues than this. */
const issuesMax = 20

const unknownPlaceholder = (name: string, names: ReadonlyArray<string>, given: object): Issue => {
  const meant = didYouMean(
    name,
    names.filter((one) => !Object.hasOwn(given, one))
  )
  const message = "is not a placeholder of this endpoint"
  return { path: `path.${shownName(name)}`, message: meant === "" ? message : `${message}.${meant}` }
}

const unknownCost = { card: null, issues: [] }

/** Refuses a name that occurs twice: the cost is computed from the last value, but the provider may use the first. */
const doubledIssues = ({ method, price }: Endpoint, { input_text }: RawRequest): ReadonlyArray<Issue> => {
  const doubled = price === undefined || method === "GET" || input_text === undefined ? null : doubledName(input_text)
  return doubled === null
    ? []
    : [{ path: `input.${oneLineOf(doubled)}`, message: "must not be given twice in one object" }]
}

export type RawDecision<R = RawRequest> =
  | {
      readonly _tag: "Planned"
      /** The request that is sent. */
      readonly request: R
      readonly raw: RawPlan
      readonly hold: Money.MicroUsd
      readonly quoted: Money.MicroUsd
    }
  | { readonly _tag: "Refused"; readonly issues: ReadonlyArray<Issue> }

/** Checks a raw request against the schemas that inspect shows, and fixes the request that is sent. */
export const planRaw = <R extends RawRequest>(
  endpoint: Endpoint,
  free: boolean,
  checks: Checks,
  given: R,
  caps: Cap
): RawDecision<R> => {
  const { request, sentences } = filledIn(endpoint, given)
  const isGet = endpoint.method === "GET"
  const issues: Array<Issue> = []
  const names = placeholdersOf(endpoint.path)
  const unknown = Object.keys(request.path).filter((name) => !names.includes(name))
  for (const name of unknown.slice(0, issuesMax)) issues.push(unknownPlaceholder(name, names, request.path))
  issues.push(
    ...under(
      "path",
      checks.path(request.path).filter((issue) => names.includes(issue.path.split(".")[0] ?? ""))
    )
  )
  issues.push(...queryIssues(request, isGet, checks))
  if (!isGet) issues.push(...bodyIssues(endpoint, request.input, checks))
  const path = endpoint.body_type === "actor_input" ? endpoint.path : fill(endpoint, request.path, issues)
  const query = [
    ...pairs("query", request.query, issues),
    ...(isGet && isRecord(request.input) ? pairs("input", request.input, issues) : [])
  ]
  // The cost can be computed only for a request that matches the schemas.
  const { card, issues: uncounted } = issues.length > 0 ? unknownCost : rateCardOf(endpoint, free, request)
  issues.push(...uncounted, ...doubledIssues(endpoint, request))
  const cap = issues.length > 0 ? null : capIssue(endpoint, card, caps)
  if (cap !== null) issues.push(cap)
  if (issues.length > 0) return { _tag: "Refused", issues: unique(issues) }
  const hold = holdOf(endpoint, card, caps.max_cost)
  return {
    _tag: "Planned",
    request,
    hold,
    quoted: Money.min(card?.estimate ?? Money.zero, hold),
    raw: {
      method: endpoint.method,
      endpoint: endpoint.path,
      ...defined({ origin: endpoint.origin }),
      path,
      query,
      body_type: endpoint.body_type,
      encoding: endpoint.encoding,
      has_body: !isGet && (endpoint.body !== null || endpoint.body_type !== "json"),
      hold: Money.usd(hold),
      estimate: card === null ? null : Money.usd(card.estimate),
      ...(sentences.length === 0 ? {} : { filled: sentences }),
      ...(endpoint.resources?.makes === undefined ? {} : { makes: endpoint.resources.makes })
    }
  }
}

/** One issue per path, because the schema and the path both report a missing placeholder. */
const unique = (issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> =>
  [...new Map(issues.map((issue) => [issue.path, issue] as const).reverse()).values()].reverse().slice(0, issuesMax)
