/** Reads the base URL and the authentication scheme of a provider from its document. */
import type { ProviderAuth } from "../../../../schema/catalog/Endpoint.ts"
import { field, isRecord, listOf, textOf } from "../kit/json.ts"
import type { References } from "../kit/reference.ts"
import type { Source } from "../kit/source.ts"

export type Auth = typeof ProviderAuth.Type

const variablesMax = 20

/** `https://{region}.example.com` with its defaults filled in; null when that is no address. `base` is what a relative one is relative to. */
const addressOf = (server: unknown, base: string | null): string | null => {
  let url = textOf(field(server, "url"))
  if (url === null || url.length > 2_000) return null
  const variables = field(server, "variables")
  for (const [name, variable] of Object.entries(isRecord(variables) ? variables : {}).slice(0, variablesMax)) {
    url = url.replaceAll(`{${name}}`, String(field(variable, "default") ?? listOf(field(variable, "enum"))[0] ?? ""))
  }
  return absolute(base !== null && !url.includes("{") ? (URL.parse(url, base)?.href ?? url) : url)
}

const absolute = (url: string): string | null => {
  // A placeholder that nothing fills would be sent as it stands.
  if (url.length > 2_000 || !/^https?:\/\/[^\s{}]+$/i.test(url) || !URL.canParse(url)) return null
  const parsed = new URL(url)
  if (parsed.username !== "" || parsed.password !== "") return null
  return `${parsed.origin}${parsed.pathname}`.replace(/\/$/, "")
}

/** The first server of a document, a path or an operation; null when it says none, or a relative one without `base`. */
export const serverOf = (holder: unknown, base: string | null = null): string | null =>
  addressOf(listOf(field(holder, "servers"))[0], base)

/** The first server that only paths or operations name. */
const serverWithin = (root: Source["root"]): string | null => {
  const paths = field(root, "paths")
  for (const item of Object.values(isRecord(paths) ? paths : {})) {
    for (const holder of [item, ...Object.values(isRecord(item) ? item : {})]) {
      const server = serverOf(holder)
      if (server !== null) return server
    }
  }
  return null
}

export const baseUrlOf = ({ root, version }: Source): string | null => {
  if (version === "3") return listOf(field(root, "servers")).length > 0 ? serverOf(root) : serverWithin(root)
  const host = textOf(field(root, "host"))
  if (host === null) return null
  const schemes = listOf(field(root, "schemes"))
  const scheme = schemes.length === 0 || schemes.includes("https") ? "https" : schemes[0] === "http" ? "http" : "https"
  const path = textOf(field(root, "basePath")) ?? ""
  return absolute(`${scheme}://${host}${path.startsWith("/") || path === "" ? path : `/${path}`}`)
}

/** `Authorization: Key …` and `must be prefixed with "Bot "` are only said in prose. */
const prefixOf = (scheme: unknown): string | null => {
  const described = String(field(scheme, "description") ?? "").slice(0, 1_000)
  const word = /(?:prefixed with ["'`]|Authorization: )([A-Za-z]{2,20}) /i.exec(described)?.[1]
  return word === undefined ? null : `${word} `
}

const readScheme = (scheme: unknown): Auth | null => {
  const name = textOf(field(scheme, "name"))
  switch (String(field(scheme, "type")).toLowerCase()) {
    case "apikey": {
      const place = field(scheme, "in")
      if (name === null || (place !== "header" && place !== "query")) return null
      if (place === "query") return { kind: "query", name }
      const prefix = name.toLowerCase() === "authorization" ? prefixOf(scheme) : null
      return prefix === null ? { kind: "header", name } : { kind: "header", name, prefix }
    }
    case "http": {
      const kind = String(field(scheme, "scheme")).toLowerCase()
      return kind === "basic" || kind === "bearer" ? { kind } : null
    }
    case "basic":
      return { kind: "basic" }
    case "oauth2":
    case "openidconnect":
      return { kind: "bearer" }
    default:
      return null
  }
}

const schemesOf = (references: References, index: number, { root }: Source): ReadonlyMap<string, Auth> => {
  const schemes = field(field(root, "components"), "securitySchemes") ?? field(root, "securityDefinitions")
  if (!isRecord(schemes)) return new Map()
  return new Map(
    Object.entries(schemes).flatMap(([name, node]) => {
      const spot = references.follow({ source: index, pointer: [], node })
      const auth = "problem" in spot ? null : readScheme(spot.node)
      return auth === null ? [] : [[name, auth] as const]
    })
  )
}

/** Names of the schemes that suffice alone, in order; `[]` among them means that no key is needed. */
const alternatives = (security: unknown): ReadonlyArray<string> =>
  listOf(security).flatMap((one) => {
    const names = isRecord(one) ? Object.keys(one) : []
    return names.length === 1 ? names : []
  })

/**
 * How the provider's key is sent: what the document, or else its first operation that says so, requires. Of several ways one
 * that keeps the key out of addresses, because addresses are logged.
 */
export const authOf = (references: References, sources: ReadonlyArray<Source>): Auth => {
  for (const [index, source] of sources.entries()) {
    const schemes = schemesOf(references, index, source)
    if (schemes.size === 0) continue
    const paths = field(source.root, "paths")
    const operations = Object.values(isRecord(paths) ? paths : {}).flatMap((item) =>
      isRecord(item) ? Object.values(item) : []
    )
    for (const holder of [source.root, ...operations]) {
      const candidates = alternatives(field(holder, "security")).flatMap((name) => schemes.get(name) ?? [])
      const best = candidates.find((auth) => auth.kind !== "query") ?? candidates[0]
      if (best !== undefined) return best
    }
    // Declared and nowhere required: the author forgot.
    const [declared] = [...schemes.values()]
    if (declared !== undefined) return declared
  }
  return { kind: "none" }
}

/** Whether a parameter is the provider's key under another name: the platform sends it, never the caller. */
export type IsCredential = (place: string, name: string, description: unknown) => boolean

const always = new Set(["api_key", "apikey", "api-key", "access_token", "api_token", "auth_token", "x-api-key"])
const perhaps = new Set(["token", "key", "auth", "user_token"])
const credentialHeaders = new Set(["authorization", "proxy-authorization", "cookie"])

export const credentials = (references: References, sources: ReadonlyArray<Source>, auth: Auth): IsCredential => {
  const all = [auth, ...sources.flatMap((source, index) => [...schemesOf(references, index, source).values()])]
  const named = new Set(all.flatMap((one) => ("name" in one ? [`${one.kind} ${one.name.toLowerCase()}`] : [])))
  return (place, name, description) => {
    const word = name.toLowerCase()
    if (named.has(`${place} ${word}`) || (place === "header" && credentialHeaders.has(word))) return true
    if (place === "path") return false
    if (always.has(word)) return true
    const said = String(description ?? "").slice(0, 500)
    return perhaps.has(word) && /authenti|api[ -]?key|api[ -]?token|credential/i.test(said)
  }
}
