/**
 * Parses the sender of a message strictly: a `from` value, an e-mail address or a domain.
 *
 * Mail software reads unusual spellings of `from` in different ways. So only one plain ASCII address is accepted, alone or as
 * `Name <address>`. The checked address is then the one that the provider reads.
 */
import { parse } from "tldts"
import { toAscii } from "../subjects/Domain.ts"

/** RFC 5321: 64 characters before the @, 254 in all. */
const addressMax = 254
const localPattern = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const localMax = 64
/** Labels of letters, digits and inner hyphens. Other alphabets are written as xn--…, which has one reading. */
const domainPattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/
const domainMax = 253

/** The address in lower case. Null for anything but one plain address. */
export const readAddress = (text: string): string | null => {
  const at = text.lastIndexOf("@")
  if (at < 1 || at > localMax || text.length > addressMax || !localPattern.test(text.slice(0, at))) return null
  const domain = text.slice(at + 1).toLowerCase()
  return domainPattern.test(domain) ? `${text.slice(0, at).toLowerCase()}@${domain}` : null
}

/** A name has no `@` (it would read as another address), no brackets, and outside quotes nothing that separates addresses. */
const namePattern = /^(?:"[^"\\<>@\p{Cc}]*"|[^"\\<>@,;:\p{Cc}]*)$/u

/** The address of `ada@example.com` or `Ada <ada@example.com>` in lower case. Null for any other form. */
export const readFrom = (text: string): string | null => {
  const from = text.trim()
  const at = from.indexOf("<")
  if (at < 0) return readAddress(from)
  return from.endsWith(">") && namePattern.test(from.slice(0, at).trimEnd())
    ? readAddress(from.slice(at + 1, -1))
    : null
}

/** Whether `from` is an inbox's id or an address at the inbox provider's own domain. Only that provider sends from these. */
export const isInbox = (from: string): boolean => {
  const address = readFrom(from) ?? from.trim()
  return !address.includes("@") || /@agentmail\.to>?$/i.test(address)
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1)

/** A domain and its parent domains. The owner of a domain also owns its subdomains. */
export const withParents = (domain: string): ReadonlyArray<string> => {
  const labels = domain.split(".")
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join("."))
}

/** Anybody can have an address at these domains, so no organization can own one of them. */
const mailboxProviders = new Set([
  ...["gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com", "msn.com", "yahoo.com", "ymail.com"],
  ...["aol.com", "icloud.com", "me.com", "mac.com", "proton.me", "protonmail.com", "gmx.com", "gmx.de", "gmx.net"],
  ...["web.de", "mail.ru", "yandex.ru", "yandex.com", "qq.com", "163.com", "zoho.com", "fastmail.com", "agentmail.to"]
])
/** Reserved names for examples and tests. Public DNS has none of them. */
const reserved = /(^|\.)(example|test|invalid|localhost)$/

export type SendingDomain =
  | { readonly _tag: "Domain"; readonly domain: string }
  | { readonly _tag: "Refused"; readonly message: string }

/** A domain that one organization can own, in ASCII and lower case. */
export const sendingDomain = (text: string): SendingDomain => {
  const refuse = (message: string): SendingDomain => ({ _tag: "Refused", message })
  const domain = toAscii(text.trim().replace(/\.$/, ""))
  if (domain === null || domain.length > domainMax || !domainPattern.test(domain))
    return refuse("must be a domain name such as example.com, without a scheme, a path or an @")
  const parsed = parse(domain, { allowPrivateDomains: true, extractHostname: false })
  if (parsed.isIp === true) return refuse("must be a domain name, not an IP address")
  // Checked before the suffix: a reserved name has none.
  if (reserved.test(domain)) return { _tag: "Domain", domain }
  if (parsed.domain === null)
    return refuse(
      "must be a domain that one organization registered: this is a suffix under which everybody can register"
    )
  if (parsed.isIcann !== true && parsed.isPrivate !== true) return refuse("must end in a top-level domain that exists")
  if (mailboxProviders.has(parsed.domain))
    return refuse("must be a domain of your own: this one belongs to a mailbox provider")
  return { _tag: "Domain", domain }
}

/** Headers that say who sent a message. A caller who could set them could send as anybody. */
const identityHeaders = new Set([
  ...["from", "sender", "returnpath", "resentfrom", "resentsender", "envelopefrom", "mailfrom"]
])
/** Lenient software drops spaces, dashes and colons in a header's name. */
const looseName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "")

/** Why a header must not be sent. Null if it may be sent. */
export const headerIssue = (name: string, value: unknown): string | null => {
  if (identityHeaders.has(looseName(name))) return "can't be set, because it names the sender; use from instead"
  if (!/^[\x21-\x39\x3b-\x7e]+$/.test(name)) return "must be a header name: visible ASCII without a colon"
  return typeof value === "string" && /[\r\n\0]/.test(value) ? "must have a value without line breaks" : null
}
