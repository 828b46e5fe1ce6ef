/**
 * Reads hosts and their registrable domains, by the public suffix list.
 *
 * Private suffixes (github.io, blogspot.com) count as ordinary domains, so ada.github.io is also found under github.io.
 */
import { parse } from "tldts"
import { keyOf, type Name } from "./Form.ts"

export interface Host {
  /** Punycode, lower case, without `www.` and the root's dot. IPv6 in brackets. */
  readonly name: string
  /** The registrable domain. Null for IP addresses, single labels and public suffixes. */
  readonly registrable: string | null
  /** Whether its top-level domain exists, or is reserved for examples and internal networks. */
  readonly endingExists: boolean
  /** Whether it could also be the name of a file. */
  readonly fileLike: boolean
  /** The domains under which a query finds this host. None for IP addresses. */
  readonly domains: ReadonlyArray<Name>
}

const nameMax = 253
/** Nobody can register these, but examples, the sandbox and internal networks use them. */
const reservedEndings = new Set(["example", "test", "invalid", "local", "internal", "corp", "lan", "home", "intranet"])
/** Top-level domains that are far more common as file extensions. `.pl`, `.so`, `.ai`, `.in` and `.cc` are mostly domains. */
const fileEndings = new Set(["md", "py", "rs", "sh", "zip", "mov", "ps", "pm", "mm", "bz", "bat"])
const library = /^lib[\w-]+\.so$/

const ascii = /^[a-z0-9._-]+$/
/** Labels of at most 63 characters without hyphens at their ends. Service names have underscores. */
const labels = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/
/** Characters that would end or split the host of a URL, so the URL parser must not get them. */
const foreign = /[\s/?#@:\\%<>|^]/
const address = /^(\d{1,3}\.){3}\d{1,3}$/
const options = { extractHostname: false, mixedInputs: false, allowPrivateDomains: false } as const

/** An IP address, which belongs to no domain. */
const numbered = (name: string): Host => ({ name, registrable: null, endingExists: true, fileLike: false, domains: [] })

/** A host in ASCII (punycode) and lower case. Null if the text is not a host. */
export const toAscii = (text: string): string | null => {
  const name = text.toLowerCase()
  if (ascii.test(name) && !name.includes("xn--")) return name
  if (text.startsWith("[") || foreign.test(text)) return null
  return URL.parse(`http://${text}/`)?.hostname ?? null
}

/** Maximum number of domains per host, because a name of a hundred labels would be indexed a hundred times. */
const parentsMax = 8

/** The host and its parents up to the registrable domain. */
const domainsOf = (name: string, registrable: string): ReadonlyArray<string> => {
  if (name === registrable) return [registrable]
  const domains = [registrable]
  const inner = name.slice(0, -registrable.length - 1).split(".")
  let parent = registrable
  for (const label of inner.reverse().slice(0, parentsMax - 2)) {
    parent = `${label}.${parent}`
    domains.push(parent)
  }
  if (parent !== name) domains.push(name)
  return domains.reverse()
}

export const domainKey = (name: string): string => keyOf("d", name)

const read = (text: string): Host | null => {
  const ascii = toAscii(text)
  let name = ascii?.endsWith(".") ? ascii.slice(0, -1) : ascii
  if (name === null || name.length > nameMax || !labels.test(name)) return null
  if (address.test(name)) {
    // Read as a browser does: 010.1.1.1 is another address, and 300.1.1.1 is none.
    const canonical = URL.parse(`http://${name}/`)?.hostname
    return canonical === undefined ? null : numbered(canonical)
  }
  const { hostname, domain, publicSuffix, isIcann, isIp } = parse(name, options)
  if (hostname === null || isIp) return null
  const www = name.startsWith("www.")
  while (domain !== null && name !== domain && name.startsWith("www.")) name = name.slice(4)
  const ending = publicSuffix ?? ""
  return {
    name,
    registrable: domain,
    endingExists: isIcann === true || reservedEndings.has(name.slice(name.lastIndexOf(".") + 1)),
    fileLike: !www && (fileEndings.has(ending) || library.test(name)),
    domains: domain === null ? [] : domainsOf(name, domain).map((one) => ({ key: domainKey(one), exact: false }))
  }
}

/** A cache, because a run repeats a few hosts in its input and result. A larger one would not fit into the processor's cache. */
const cache = new Map<string, Host | null>()
const cacheMax = 256

/** Reads a host without a port, such as a domain, an IP address or a single label. Null if the text can't be a host. */
export const readHost = (text: string): Host | null => {
  if (text.length > nameMax) return text.length > nameMax * 4 ? null : read(text)
  const cached = cache.get(text)
  if (cached !== undefined) return cached
  const host = read(text)
  if (cache.size >= cacheMax) cache.clear()
  cache.set(text, host)
  return host
}

/** The host of a parsed URL. */
export const parsedHost = (hostname: string): Host | null =>
  hostname.startsWith("[") ? numbered(hostname) : readHost(hostname)

/** Whether the host is a domain without any hint from its context. */
export const isDomain = (host: Host): boolean => host.registrable !== null && host.endingExists
