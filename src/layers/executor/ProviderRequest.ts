/**
 * Writes the request that a provider gets: address, headers, body, and the account's secret in its place.
 *
 * Nothing that a caller sends leaves its own place: an address that would come out as another one, or a header that a socket
 * can't carry, is refused here, before a connection is opened.
 */
import { Redacted } from "effect"
import { type Auth, type Call, type Failure, failure, type Provider } from "../../schema/catalog/Provider.ts"
import type { RawProvider } from "../catalog/Endpoints.ts"
import type { RawCall } from "./Providers.ts"
import { providers } from "../providers/index.ts"
import type { Account } from "../platform/Settings.ts"

/** What the executor must know of a provider, with or without an adapter file. */
export type Target = Pick<
  Provider,
  "slug" | "base_url" | "auth" | "headers" | "concurrency" | "spacingMillis" | "timeoutMillis"
>

/** Calls at once to a provider that only an import knows. */
const importedConcurrency = 5

/** Calls at once from one process: as many runs may ask the provider at the same time. */
export const callsAtOnce = (slug: string): number =>
  providers.find((one) => one.slug === slug)?.concurrency ?? importedConcurrency

/** A provider that only an import knows gets the bounds of an ordinary one. */
export const targetOf = ({ slug, provider, document }: RawProvider): Target | null => {
  const base_url = document?.base_url ?? provider?.base_url ?? null
  if (base_url === null) return null
  const auth = provider?.auth ?? document?.auth ?? { kind: "none" }
  const { headers = {}, concurrency = importedConcurrency, spacingMillis = 0, timeoutMillis = 60_000 } = provider ?? {}
  return { slug, base_url: provider?.base_url ?? base_url, auth, headers, concurrency, spacingMillis, timeoutMillis }
}

/** A request ready for the wire, but for the account. */
export interface Outgoing {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | FormData | undefined
  /** Another host than the base URL's. */
  readonly origin: string | undefined
  /** It may do something in the world. */
  readonly acts: boolean
}

const queryOf = (call: Call): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value === undefined) continue
    if (typeof value === "object") for (const one of value) query.append(name, one)
    else query.append(name, String(value))
  }
  return query.toString()
}

const fieldsOf = (input: unknown): ReadonlyArray<[string, string]> =>
  Object.entries(typeof input === "object" && input !== null ? input : {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one: unknown): [string, string] => [
      name,
      typeof one === "object" ? JSON.stringify(one) : String(one)
    ])
  )

/** The body and the header that says what it is; a multipart body says so itself. */
const encoded = (
  body: unknown,
  encoding: "json" | "form" | "multipart"
): Pick<Outgoing, "body"> & { readonly type: Readonly<Record<string, string>> } => {
  if (body === undefined) return { body: undefined, type: {} }
  if (encoding === "form") {
    const form = new URLSearchParams([...fieldsOf(body)])
    return { body: form.toString(), type: { "content-type": "application/x-www-form-urlencoded" } }
  }
  if (encoding === "multipart") {
    const form = new FormData()
    for (const [name, value] of fieldsOf(body)) form.append(name, value)
    return { body: form, type: {} }
  }
  return { body: JSON.stringify(body), type: { "content-type": "application/json" } }
}

const asText = (body: string) => ({ body, type: { "content-type": "application/json" } })

export const outgoing = (call: Call): Outgoing => {
  const { body, type } = call.text === undefined ? encoded(call.body, call.encoding ?? "json") : asText(call.text)
  const { method, path, origin } = call
  const acts = method !== "GET" && call.reads !== true
  return { method, path, query: queryOf(call), headers: { ...type, ...call.headers }, body, origin, acts }
}

/** The caller's request as its plan fixed it, its JSON as the caller wrote it; a task endpoint takes an array, also of one. */
export const rawOutgoing = ({ raw, input, input_text }: RawCall): Outgoing => {
  const query = new URLSearchParams(raw.query.map(([name, value]): [string, string] => [name, value])).toString()
  const one = raw.body_type === "task" && !Array.isArray(input)
  const { body, type } =
    raw.has_body && raw.encoding === "json"
      ? asText(one ? `[${input_text}]` : input_text)
      : encoded(raw.has_body ? input : undefined, raw.encoding)
  // Whether the endpoint acts is for the run's plan to say; some act on a GET.
  return { method: raw.method, path: raw.path, query, headers: type, body, origin: raw.origin, acts: true }
}

/** Where the secret goes: into headers or into the query, as the provider wants it. */
const authorize = (auth: Auth, secret: string): { headers: Record<string, string>; query: string } => {
  switch (auth.kind) {
    case "none":
      return { headers: {}, query: "" }
    case "contact":
      return { headers: { "user-agent": secret === "" ? "Rungate" : `Rungate (${secret})` }, query: "" }
    case "headers": {
      const [first, ...rest] = secret.split(":")
      return { headers: { [auth.names[0]]: first ?? "", [auth.names[1]]: rest.join(":") }, query: "" }
    }
    case "bearer":
      return { headers: { authorization: `Bearer ${secret}` }, query: "" }
    case "basic":
      return { headers: { authorization: `Basic ${Buffer.from(secret).toString("base64")}` }, query: "" }
    case "header":
      return { headers: { [auth.name]: `${auth.prefix ?? ""}${secret}` }, query: "" }
    case "query":
      return { headers: {}, query: new URLSearchParams({ [auth.name]: secret }).toString() }
  }
}

/** Shorter parts of a secret are no secret, and would be found everywhere. */
const secretPartMin = 4

/** The parts of the account's secret that must not come back, each in every spelling in which a provider may repeat it. */
const spellings = (auth: Auth, secret: string): ReadonlyArray<string> => {
  if (auth.kind === "contact" || auth.kind === "none") return []
  const parts =
    auth.kind === "basic"
      ? [secret, Buffer.from(secret).toString("base64"), ...secret.split(":").slice(1)]
      : auth.kind === "headers"
        ? [secret, ...secret.split(":")]
        : [secret]
  const all = parts
    .filter((part) => part.length >= secretPartMin)
    .flatMap((part) => {
      const inJson = JSON.stringify(part).slice(1, -1)
      const inForm = new URLSearchParams([["", part]]).toString().slice(1)
      return [part, inJson, inJson.replaceAll("/", "\\/"), inForm, encodeURIComponent(part.toWellFormed())]
    })
  // The longest first: a part of a secret must not hide the whole of it.
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

const isCarriable = ([name, value]: readonly [string, string]): boolean =>
  /^[!#$%&'*+.^`|~\w-]+$/.test(name) && /^[\t\x20-\x7e\xa0-\xff]*$/.test(value)

/** The configured origin replaces the provider's own; its path prefix stays. Null when an address is not what it says. */
const urlOf = (target: Target, account: Account | undefined, sent: Outgoing, authQuery: string): URL | null => {
  const base = new URL(target.base_url)
  const root = new URL(account?.baseUrl ?? sent.origin ?? base.origin)
  // Another host has paths of its own.
  const prefix = sent.origin === undefined ? base.pathname.replace(/\/+$/, "") : ""
  const query = [sent.query, authQuery].filter((part) => part !== "").join("&")
  const address = `${root.origin}${root.pathname.replace(/\/+$/, "")}${prefix}${sent.path}`
  const url = URL.parse(`${address}${query === "" ? "" : `?${query}`}`)
  // Whatever a parser would resolve, decode or cut off comes out as another address than the one that was put together.
  if (url === null || url.origin !== root.origin || url.hash !== "") return null
  // Without a slash it would grow the host's name; of two, the runtime sends one.
  return /^\/(?!\/)/.test(sent.path) && `${url.origin}${url.pathname}` === address ? url : null
}

/** A request with its account. */
export interface Addressed {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly redact: (text: string) => string
}

export const addressed = (target: Target, account: Account | undefined, sent: Outgoing): Addressed | Failure => {
  const secret = account?.apiKey === undefined || account.apiKey === null ? "" : Redacted.value(account.apiKey)
  const auth = authorize(target.auth, secret)
  if (!Object.entries(auth.headers).every(isCarriable))
    return failure("provider_account", "the account's key has characters that no header can carry")
  if (!Object.entries(sent.headers).every(isCarriable))
    return failure("provider_rejected", "a header would have characters that no header can carry")
  const url = urlOf(target, account, sent, auth.query)
  if (url === null) return failure("provider_rejected", "the request's path leads to another place than its endpoint's")
  const hidden = spellings(target.auth, secret)
  return {
    url,
    headers: { accept: "application/json", ...target.headers, ...sent.headers, ...auth.headers },
    redact: (text) => hidden.reduce((rest, part) => rest.replaceAll(part, "<redacted>"), text)
  }
}
