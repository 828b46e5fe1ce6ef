/**
 * Normalizes URLs: one form for all URLs of the same page.
 *
 * http and https are the same page, and so are hosts with and without `www.`. Tracking parameters, the order of parameters, fragments that
 * only scroll, and trailing slashes make no difference. The case of the path does.
 */
import { type Host, isDomain, parsedHost, readHost } from "./Domain.ts"
import { lengthMax } from "./Form.ts"

export interface Url {
  /** Without the scheme, to be easy to read: `example.com/a?b=1`. */
  readonly normalized: string
  readonly host: Host
  /** Empty for the default port of the scheme. */
  readonly port: string
  /** The URL was written with `http://`, `https://` or `//`. */
  readonly schemed: boolean
  /** Path, parameters and route are empty. */
  readonly bareHost: boolean
  /** The path, or else the `#!` route without `#!`. */
  readonly path: string
  readonly query: string
}

const tracking = new Set([
  ...["gclid", "gclsrc", "gbraid", "wbraid", "dclid", "srsltid", "_ga", "_gl", "fbclid", "igsh", "igshid", "msclkid"],
  ...["mc_cid", "mc_eid", "yclid", "ysclid", "_openstat", "ttclid", "twclid", "li_fat_id", "rdt_cid", "epik", "scid"],
  ...["_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking", "mkt_tok", "vero_id", "oly_anon_id"],
  ...["oly_enc_id", "wickedid", "s_cid", "spm", "ref", "ref_src", "ref_url", "trk", "trkinfo", "trackingid", "lipi"],
  ...["licu", "originalsubdomain", "original_referer", "is_from_webapp", "sender_device"]
])
/** Hosts where `ref` is a branch or a commit, so it is part of the page. */
const branching = new Set(["github.com", "gitlab.com", "bitbucket.org", "codeberg.org"])

const decoded = (text: string): string => {
  if (!text.includes("%")) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const escaped = /%([0-9a-fA-F]{2})|%|[^A-Za-z0-9\-._~!$&'()*+,;=:@/%?#]/g
const unreserved = /[A-Za-z0-9\-._~!'()*]/

/** Percent-encodes only what needs it, in upper case. */
const encoded = (text: string): string =>
  text.replace(escaped, (part: string, hex: string | undefined) => {
    if (part === "%") return "%25"
    if (hex === undefined) return encodeURIComponent(part.toWellFormed())
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return unreserved.test(character) ? character : part.toUpperCase()
  })

const isTracking = (name: string, host: Host): boolean =>
  name.startsWith("utm_") ||
  (tracking.has(name) && !((name === "ref" || name === "spm") && branching.has(host.registrable ?? "")))

const readsWell = /^[\w\-.!~*'()/:@,]*$/

/** Normalizes the encoding of a parameter: it is decoded and encoded again, unless it needs no encoding. */
const written = (text: string): string =>
  readsWell.test(text)
    ? text
    : encodeURIComponent(decoded(text).toWellFormed()).replace(/%(?:2F|3A|40|2C)/g, decodeURIComponent)

/** A single parameter that needs neither decoding nor sorting. */
const oneParameter = /^\?[\w\-.!~*'()/:@,]+(?:=[\w\-.!~*'()/:@,]+)?$/

/** Sorts parameters by name. Parameters with the same name keep their order, because it may matter. */
const queryOf = (search: string, host: Host): string => {
  if (search.length < 2) return ""
  if (oneParameter.test(search)) {
    const sign = search.indexOf("=")
    const name = search.slice(1, sign < 0 ? search.length : sign)
    return isTracking(name.toLowerCase(), host) ? "" : search.slice(1)
  }
  const kept: Array<readonly [string, string]> = []
  for (const part of search.slice(1).replaceAll("+", "%20").split("&")) {
    const sign = part.indexOf("=")
    const name = written(sign < 0 ? part : part.slice(0, sign))
    const value = sign < 0 ? "" : written(part.slice(sign + 1))
    if ((name !== "" || value !== "") && !isTracking(decoded(name).toLowerCase(), host)) {
      kept.push([name, value === "" ? name : `${name}=${value}`])
    }
  }
  kept.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return kept.map(([, part]) => part).join("&")
}

/** The route in a fragment of a single-page application, which is part of the page. Other fragments are only positions on a page. */
const routeOf = (hash: string): string => (hash !== "" && /^#[!/]./.test(hash) ? encoded(hash) : "")

/** Punctuation at the end of a URL is percent-encoded in the normalized form. Otherwise it would be cut off when that is read again. */
export const sentenceEnd: ReadonlySet<string> = new Set([".", ",", ";", ":", "!", "'", '"'])
const closed = (text: string): string => {
  const last = text.charAt(text.length - 1)
  return sentenceEnd.has(last) ? `${text.slice(0, -1)}%${last.charCodeAt(0).toString(16).toUpperCase()}` : text
}

const scheme = /^(?:https?:)?\/\//i
const authority = /^(?:\[[0-9a-f:.]+\]|[^\s/?#@\\:[\]]+)(?::\d{1,5})?(?=[/?#]|$)/i
const fourNumbers = /^(\d{1,3}\.){3}\d{1,3}(?=[:/?#]|$)/
const numbers = /^[\dxa-f.]*\d(?=[:/?#]|$)/i

interface Parts {
  readonly schemed: boolean
  readonly host: Host
  /** Empty for the default port of the scheme. */
  readonly port: string
  readonly path: string
  readonly search: string
  readonly hash: string
}

/** The usual form of a URL, which needs no URL parser. The parser is needed for ports, escapes, `..` and numbers as hosts. */
const usual =
  /^((?:https?:)?\/\/)?((?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*)((?:\/(?!\.)[\w\-.~!$&'()*+,;=:@]*)*)(\?[\w\-.~!$&()*+,;=:@/]*)?$/i

/** The parts of a URL in the usual form. Undefined for any other form. */
const usualParts = (text: string): Parts | null | undefined => {
  const groups = usual.exec(text)
  if (groups === null) return undefined
  const hostname = groups[2] ?? ""
  const schemed = groups[1] !== undefined
  if (!schemed && numbers.test(hostname)) return null
  const host = readHost(hostname)
  return host && { schemed, host, port: "", path: groups[3] ?? "", search: groups[4] ?? "", hash: "" }
}

const parsedParts = (text: string): Parts | null => {
  if (/\s/.test(text)) return null
  const prefix = scheme.exec(text)?.[0]
  const rest = text.slice(prefix?.length ?? 0)
  if (prefix === undefined) {
    if (!authority.test(rest)) return null
    if (numbers.test(rest) && !fourNumbers.test(rest)) return null
  }
  const parsed = URL.parse(`http://${rest}`)
  const host = parsed === null ? null : parsedHost(parsed.hostname)
  if (parsed === null || host === null) return null
  const { port, pathname, search, hash } = parsed
  return {
    ...{ schemed: prefix !== undefined, host, port: port === "443" ? "" : port },
    ...{ path: encoded(pathname), search, hash }
  }
}

const withoutSlashes = (path: string): string => {
  let end = path.length
  while (end > 0 && path.charAt(end - 1) === "/") end--
  return path.slice(0, end)
}

/**
 * Reads a value that is a URL as a whole. Without a scheme it must look like one: a host with a known top-level domain that is no file name.
 * With `loose`, the context says that it is a URL, so any host with a dot is accepted. Null if it is no URL.
 */
export const readUrl = (text: string, loose = false): Url | null => {
  if (text.length > lengthMax || text.length < 3) return null
  const usually = usualParts(text)
  const parts = usually === undefined ? parsedParts(text) : usually
  if (parts === null) return null
  const { schemed, host, port } = parts
  const path = withoutSlashes(parts.path)
  const query = queryOf(parts.search, host)
  const route = routeOf(parts.hash)
  const bareHost = path === "" && query === "" && route === ""
  const local = host.name === "localhost"
  const dotted = host.name.includes(".") || host.name.startsWith("[")
  if (!schemed && !local) {
    const evident =
      host.endingExists && (host.registrable !== null || !/[a-z]/.test(host.name)) && (!host.fileLike || !bareHost)
    if (!evident && !(loose && dotted)) return null
  }
  const head = `${dotted || local ? "" : "http://"}${host.name}${port === "" ? "" : `:${port}`}`
  const normalized = closed(`${head}${path}${query === "" ? "" : `?${query}`}${route}`)
  if (normalized.length > lengthMax) return null
  return {
    normalized,
    host,
    port,
    schemed,
    bareHost,
    path: path === "" && route !== "" ? route.replace(/^#!?/, "") : path,
    query
  }
}

/** The decoded parts of the path, without empty ones. */
export const segmentsOf = ({ path }: Url): ReadonlyArray<string> =>
  path
    .split("/")
    .filter((part) => part !== "")
    .map(decoded)

/** The first value of a parameter, decoded. */
export const parameter = ({ query }: Url, name: string): string | null => {
  for (const part of query.split("&")) if (part.startsWith(`${name}=`)) return decoded(part.slice(name.length + 1))
  return null
}

/** Whether the URL is the home page of a domain. With a scheme and a port it is a service on the host instead. */
export const isHomePage = ({ bareHost, port, schemed, host }: Url): boolean =>
  bareHost && (port === "" || !schemed) && host.registrable !== null && (schemed || isDomain(host) || host.endingExists)
