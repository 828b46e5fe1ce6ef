/**
 * Hosts and registrable domains, as the public suffix list has them.
 *
 * Private suffixes (github.io, blogspot.com) count as ordinary domains: ada.github.io is found under github.io, too.
 */
import { parse } from "tldts"
import { keyOf, type Name } from "./Form.ts"

export interface Host {
  /** Punycode, lower case, without `www.` and the root's dot. IPv6 in brackets. */
  readonly name: string
  /** The part that somebody registered; null for IP addresses, single labels and public suffixes. */
  readonly registrable: string | null
  /** Its ending is in use, or reserved for examples and inner networks. */
  readonly known: boolean
  /** It could as well be the name of a file. */
  readonly fileLike: boolean
  /** Its domains, by which a query may mean what is on it; none for IP addresses. */
  readonly domains: ReadonlyArray<Name>
}

const nameMax = 253
/** Nobody registers these, but examples, the sandbox and inner networks use them. */
const reservedEndings = new Set(["example", "test", "invalid", "local", "internal", "corp", "lan", "home", "intranet"])
/** Endings in use that are seen far more often on files. `.pl`, `.so`, `.ai`, `.in`, `.cc` are mostly domains. */
const fileEndings = new Set(["md", "py", "rs", "sh", "zip", "mov", "ps", "pm", "mm", "bz", "bat"])
const library = /^lib[\w-]+\.so$/

const ascii = /^[a-z0-9._-]+$/
/** Labels of 63 characters at most, without hyphens at their ends; underscores occur in names of services. */
const labels = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/
/** Would end or split the host of a URL, so the URL parser must not see them. */
const foreign = /[\s/?#@:\\%<>|^]/
const address = /^(\d{1,3}\.){3}\d{1,3}$/
const options = { extractHostname: false, mixedInputs: false, allowPrivateDomains: false } as const

/** An IP address is nobody's domain. */
const numbered = (name: string): Host => ({ name, registrable: null, known: true, fileLike: false, domains: [] })

/** A host in ASCII (punycode) and lower case; null when it is none. */
export const toAscii = (text: string): string | null => {
  const name = text.toLowerCase()
  if (ascii.test(name) && !name.includes("xn--")) return name
  if (text.startsWith("[") || foreign.test(text)) return null
  return URL.parse(`http://${text}/`)?.hostname ?? null
}

/** A name of a hundred labels would be indexed a hundred times. */
const parentsMax = 8

/** The host and its parents up to the registrable domain. */
const domainsOf = (name: string, registrable: string): ReadonlyArray<string> => {
  if (name === registrable) return [registrable]
  const found = [registrable]
  const inner = name.slice(0, -registrable.length - 1).split(".")
  let parent = registrable
  for (const label of inner.reverse().slice(0, parentsMax - 2)) {
    parent = `${label}.${parent}`
    found.push(parent)
  }
  if (parent !== name) found.push(name)
  return found.reverse()
}

export const domainKey = (name: string): string => keyOf("d", name)

const read = (text: string): Host | null => {
  const found = toAscii(text)
  let name = found?.endsWith(".") ? found.slice(0, -1) : found
  if (name === null || name.length > nameMax || !labels.test(name)) return null
  if (address.test(name)) {
    // As a browser reads it: 010.1.1.1 is another address, 300.1.1.1 is none.
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
    known: isIcann === true || reservedEndings.has(name.slice(name.lastIndexOf(".") + 1)),
    fileLike: !www && (fileEndings.has(ending) || library.test(name)),
    domains: domain === null ? [] : domainsOf(name, domain).map((one) => ({ key: domainKey(one), exact: false }))
  }
}

/** The few hosts of a run stand in its input and all over its result. More than fit a processor's cache take longer to find than to read again. */
const known = new Map<string, Host | null>()
const knownMax = 256

/** A host without port; null when it can't be one. Single labels and IP addresses are hosts, too. */
export const readHost = (text: string): Host | null => {
  if (text.length > nameMax) return text.length > nameMax * 4 ? null : read(text)
  const found = known.get(text)
  if (found !== undefined) return found
  const host = read(text)
  if (known.size >= knownMax) known.clear()
  known.set(text, host)
  return host
}

/** The host of a URL that was parsed already. */
export const parsedHost = (hostname: string): Host | null =>
  hostname.startsWith("[") ? numbered(hostname) : readHost(hostname)

/** It is a domain by itself, whatever stands around it. */
export const isDomain = (host: Host): boolean => host.registrable !== null && host.known
