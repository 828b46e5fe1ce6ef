/**
 * Builds the HTTP request for a provider: URL, headers and body, and then the account's credentials.
 *
 * A caller's values can't change the request's target: a path that resolves to another URL, or an invalid header, is rejected
 * before a connection is opened.
 */
import { Redacted } from "effect"
import { type Auth, type Call, type Failure, failure, type Provider } from "../../schema/catalog/Provider.ts"
import type { RawProvider } from "../catalog/Endpoints.ts"
import type { RawCall } from "./Providers.ts"
import { providers } from "../providers/index.ts"
import type { Account } from "../platform/Settings.ts"

/** The parts of a provider that the executor needs. A provider without an adapter has them too. */
export type Target = Pick<
  Provider,
  "slug" | "base_url" | "auth" | "headers" | "concurrency" | "spacingMillis" | "timeoutMillis"
>

/** Calls at once to a provider without an adapter. */
const importedConcurrency = 5

/** Calls at once to the provider. */
export const callsAtOnce = (slug: string): number =>
  providers.find((one) => one.slug === slug)?.concurrency ?? importedConcurrency

/** The target of a raw call. A provider without an adapter gets default limits. Null when it has no base URL. */
export const targetOf = ({ slug, provider, document }: RawProvider): Target | null => {
  const base_url = document?.base_url ?? provider?.base_url ?? null
  if (base_url === null) return null
  const auth = provider?.auth ?? document?.auth ?? { kind: "none" }
  const { headers = {}, concurrency = importedConcurrency, spacingMillis = 0, timeoutMillis = 60_000 } = provider ?? {}
  return { slug, base_url: provider?.base_url ?? base_url, auth, headers, concurrency, spacingMillis, timeoutMillis }
}

/** A request without the account's credentials. */
export interface ProviderRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | FormData | undefined
  /** Set when the host is not the base URL's. */
  readonly origin: string | undefined
  /** It may have a side effect. */
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

/** The body and its content type. The runtime sets the content type of a multipart body. */
const encodedBody = (
  body: unknown,
  encoding: "json" | "form" | "multipart"
): Pick<ProviderRequest, "body"> & { readonly type: Readonly<Record<string, string>> } => {
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

export const requestOf = (call: Call): ProviderRequest => {
  const { body, type } = call.text === undefined ? encodedBody(call.body, call.encoding ?? "json") : asText(call.text)
  const { method, path, origin } = call
  const acts = method !== "GET" && call.reads !== true
  return { method, path, query: queryOf(call), headers: { ...type, ...call.headers }, body, origin, acts }
}

/** The request of a raw call: as planned, with the caller's JSON unchanged. A task endpoint gets an array, also for one task. */
export const rawRequestOf = ({ raw, input, input_text }: RawCall): ProviderRequest => {
  const query = new URLSearchParams(raw.query.map(([name, value]): [string, string] => [name, value])).toString()
  const one = raw.body_type === "task" && !Array.isArray(input)
  const { body, type } =
    raw.has_body && raw.encoding === "json"
      ? asText(one ? `[${input_text}]` : input_text)
      : encodedBody(raw.has_body ? input : undefined, raw.encoding)
  // The run's plan decides whether the endpoint has side effects. Some have them on a GET.
  return { method: raw.method, path: raw.path, query, headers: type, body, origin: raw.origin, acts: true }
}

/** The credentials as headers or as a query, whichever the provider requires. */
const authorize = (
  auth: Auth,
  secret: string,
  token: string | null
): { headers: Record<string, string>; query: string } => {
  switch (auth.kind) {
    case "client_credentials":
      return { headers: token === null ? {} : { authorization: `Bearer ${token}` }, query: "" }
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

/** Shorter secrets, and shorter parts of one, would match ordinary text. */
const secretMin = 4
const secretPartMin = 8

const inHex = (sign: string) => `\\u00${sign.charCodeAt(0).toString(16)}`

/**
 * Every spelling of the account's secret, and of its access token, in which a provider may repeat it: thirty at most. The JSON of .NET and of Go
 * escapes signs of HTML.
 */
const spellings = (auth: Auth, secret: string, token: string | null): ReadonlyArray<string> => {
  if (auth.kind === "contact" || auth.kind === "none" || secret.length < secretMin) return []
  const colon = secret.indexOf(":")
  const halves = colon < 0 ? [] : [secret.slice(0, colon), secret.slice(colon + 1)]
  const parts =
    auth.kind === "basic"
      ? [Buffer.from(secret).toString("base64"), ...halves.slice(1)]
      : auth.kind === "headers"
        ? halves
        : auth.kind === "client_credentials"
          ? [...halves, token ?? ""]
          : []
  const all = [secret, ...parts.filter((part) => part.length >= secretPartMin)].flatMap((part) => {
    const inJson = JSON.stringify(part).slice(1, -1)
    const inForm = new URLSearchParams([["", part]]).toString().slice(1)
    const inNet = inJson.replaceAll(/[&'+<>`]/g, (sign) => inHex(sign).replace(/..$/, (hex) => hex.toUpperCase()))
    const inGo = inJson.replaceAll(/[&<>]/g, inHex)
    return [part, inJson, inJson.replaceAll("/", "\\/"), inNet, inGo, inForm, encodeURIComponent(part.toWellFormed())]
  })
  // The longest first, because redacting a part would leave the rest of the secret.
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

const mark = "<redacted>"

/**
 * Replaces secrets in one pass over the text, the longest first where several begin. What was replaced is not read again, and no
 * replacement is longer than its secret, so a hostile secret and a hostile answer can't make the text grow.
 */
export const redactor = (secrets: ReadonlyArray<string>) => (text: string) => {
  const nexts = secrets.map((secret) => ({ secret, at: text.indexOf(secret) })).filter(({ at }) => at >= 0)
  if (nexts.length === 0) return text
  const parts: Array<string> = []
  let end = 0
  for (;;) {
    for (const next of nexts) if (next.at >= 0 && next.at < end) next.at = text.indexOf(next.secret, end)
    const first = nexts.reduce((a, b) => (b.at >= 0 && (a.at < 0 || b.at < a.at) ? b : a))
    if (first.at < 0) return parts.join("") + text.slice(end)
    parts.push(text.slice(end, first.at), first.secret.length < mark.length ? "*".repeat(first.secret.length) : mark)
    end = first.at + first.secret.length
  }
}

const isValidHeader = ([name, value]: readonly [string, string]): boolean =>
  /^[!#$%&'*+.^`|~\w-]+$/.test(name) && /^[\t\x20-\x7e\xa0-\xff]*$/.test(value)

/** The configured origin replaces the provider's own, with the same path prefix. Null when parsing changes the URL. */
const urlOf = (
  target: Target,
  account: Account | undefined,
  request: ProviderRequest,
  authQuery: string
): URL | null => {
  const base = new URL(target.base_url)
  const root = new URL(account?.baseUrl ?? request.origin ?? base.origin)
  // The base URL's path prefix does not apply to another host.
  const prefix = request.origin === undefined ? base.pathname.replace(/\/+$/, "") : ""
  const query = [request.query, authQuery].filter((part) => part !== "").join("&")
  const address = `${root.origin}${root.pathname.replace(/\/+$/, "")}${prefix}${request.path}`
  const url = URL.parse(`${address}${query === "" ? "" : `?${query}`}`)
  // If the parser resolved, decoded or cut anything, the URL differs from the text that it was built from.
  if (url === null || url.origin !== root.origin || url.hash !== "") return null
  // A path without a slash would extend the host name. The runtime sends two leading slashes as one.
  return /^\/(?!\/)/.test(request.path) && `${url.origin}${url.pathname}` === address ? url : null
}

/** A request with the account's credentials. */
export interface AuthorizedRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly redact: (text: string) => string
}

export const authorized = (
  target: Target,
  account: Account | undefined,
  request: ProviderRequest,
  /** The access token, if the account has one. */
  token: string | null = null
): AuthorizedRequest | Failure => {
  const secret = account?.apiKey === undefined || account.apiKey === null ? "" : Redacted.value(account.apiKey)
  const auth = authorize(target.auth, secret, token)
  if (!Object.entries(auth.headers).every(isValidHeader))
    return failure(
      "provider_account",
      "the account's key has characters that are not allowed in a header; configure the key again"
    )
  if (!Object.entries(request.headers).every(isValidHeader))
    return failure("provider_rejected", "a value for a header has characters that are not allowed there")
  const url = urlOf(target, account, request, auth.query)
  if (url === null)
    return failure("provider_rejected", "the request's path resolves to another endpoint; check the path parameters")
  return {
    url,
    headers: { accept: "application/json", ...target.headers, ...request.headers, ...auth.headers },
    redact: redactor(spellings(target.auth, secret, token))
  }
}
