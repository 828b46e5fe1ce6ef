/**
 * Reads the subject that a value names, from the value itself or as a given kind. Queries and the index both use it.
 *
 * An e-mail address or URL that is read as `domain` gives its host, because that is what the caller means.
 */
import type { Place } from "./Countries.ts"
import { domainKey, type Host, readHost } from "./Domain.ts"
import { readAddress, readEmail } from "./Email.ts"
import {
  type Account,
  accountKeys,
  accountNames,
  accountOf,
  normalizedAccount,
  readAccount,
  readMention
} from "./Handle.ts"
import { profileOf, readNetwork } from "./Network.ts"
import { readPhone } from "./Phone.ts"
import { bare, keyOf, type SubjectKind, lengthMax, type Name, type Subject, visible } from "./Form.ts"
import { readText } from "./Text.ts"
import { isHomePage, parameter, readUrl, segmentsOf, sentenceEnd, type Url } from "./Url.ts"

export { type SubjectKind, kinds, type Subject } from "./Form.ts"

/** What the context of a value says about it. */
export interface ValueHints {
  readonly phone: boolean
  readonly place: Place | null
  /** It is a host, a URL or an e-mail address, even if the top-level domain is unknown. */
  readonly host: boolean
}
export const noHints: ValueHints = { phone: false, place: null, host: false }

/** A subject with all keys under which a value that names it is indexed. */
export interface Reading {
  readonly subject: Subject
  readonly names: ReadonlyArray<Name>
}

const subject = (kind: SubjectKind, normalized: string): Subject => ({ kind, normalized })
const exactly = (key: string): Name => ({ key, exact: true })

export const emailReading = ({ normalized, host }: { readonly normalized: string; readonly host: Host }): Reading => ({
  subject: subject("email", normalized),
  names: [exactly(keyOf("e", normalized)), ...host.domains]
})
export const phoneReading = (number: string): Reading => ({
  subject: subject("phone", number),
  names: [exactly(keyOf("p", number))]
})
export const accountReading = (account: Account): Reading => ({
  subject: subject("handle", normalizedAccount(account)),
  names: accountNames(account)
})
export const networkReading = (profile: string): Reading => ({
  subject: subject("network", profile),
  names: [exactly(keyOf("n", profile))]
})

const chats = new Set(["wa.me", "api.whatsapp.com", "web.whatsapp.com"])
/** The phone number in a chat link. */
const chatPhone = (url: Url): string | null => {
  if (!chats.has(url.host.name)) return null
  const digits = url.host.name === "wa.me" ? segmentsOf(url)[0] : parameter(url, "phone")
  return digits ? readPhone(`+${digits.replace(/^\+/, "")}`, { named: true, place: null }) : null
}

/** The subject of a URL: a profile, a phone number, an account, a domain, or the page itself. */
export const urlReading = (url: Url): Reading => {
  // A query for a domain also finds the pages on it.
  const on = url.host.domains
  const with_ = ({ subject, names }: Reading): Reading => ({ subject, names: [...names, ...on] })
  const profile = profileOf(url)
  if (profile !== null) return with_(networkReading(profile))
  const phone = chatPhone(url)
  if (phone !== null) return with_(phoneReading(phone))
  const account = accountOf(url)
  if (account?.exact) return with_(accountReading(account.account))
  const page = exactly(keyOf("u", url.normalized))
  if (isHomePage(url)) {
    const { name } = url.host
    return { subject: subject("domain", name), names: [exactly(domainKey(name)), page, ...on.slice(1)] }
  }
  if (account === null) return { subject: subject("url", url.normalized), names: [page, ...on] }
  const authors = accountNames(account.account).map(({ key }) => ({ key, exact: false }))
  return { subject: subject("url", url.normalized), names: [page, ...authors, ...on] }
}

const pairs = new Map(Array.from(["<>", '""', "''", "``", "“”", "()", "[]"], ([open, close]) => [open, close]))
/** An IPv6 host, which keeps its brackets. */
const addressed = /^\[[0-9a-f.]*:[0-9a-f:.]*\]$/i
const isWrapped = (text: string): boolean =>
  text.length > 1 && pairs.get(text.charAt(0)) === text.charAt(text.length - 1) && !addressed.test(text)

/** Removes pairs of quotes and brackets, and punctuation at the end. A single bracket stays, because it may be part of a URL. */
const unwrapped = (value: string): string => {
  let text = value.trim()
  while (isWrapped(text)) text = text.slice(1, -1).trim()
  let end = text.length
  while (end > 0 && sentenceEnd.has(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Every value that names a subject has one of these characters. Most strings of a result have none. */
const maybeSubject = /[@＠.。．+＋:/]|^\(?00/

/** One word that begins with a letter and ends without punctuation. It can name only a page or a host. */
const addressLike = /^(?!tel:|u\/)[a-z][^\s@%,;\u0080-\uFFFF]*[^\s@%.,;:!'"\u0080-\uFFFF]$/i
/** Several words without the characters of an address. Such a text may mention subjects, but names none. */
const prose = /^(?!tel:)[a-z](?=[^]*?\s\w)[^@%\u0080-\uFFFF]*$/i

/** A phone number has one of these, unless its field says that it is one. */
const dialling = /[+\u0080-\uFFFF]|00|tel:/i

/** A list of URLs, which names no single subject. */
const several = /[,;]https?:\/\//i

const readPage = (text: string, { host }: ValueHints): Reading | null => {
  const url = readUrl(text, host)
  return url === null ? null : urlReading(url)
}

/** Reads a value that names a subject as a whole. Null for any other text: `text` is never the kind of a reading. */
export const readValue = (value: string, hints: ValueHints): Reading | null => {
  if (value.length > lengthMax || value.length < 2) return null
  if (!hints.phone && !maybeSubject.test(value)) return null
  if (addressLike.test(value)) return readPage(value, hints)
  if (prose.test(value)) return null
  const text = visible(value).trim()
  const email = readEmail(text, hints.host)
  if (email !== null) return emailReading(email)
  const inner = bare(text)
  const phone =
    hints.phone || dialling.test(inner) ? readPhone(inner, { named: hints.phone, place: hints.place }) : null
  if (phone !== null) return phoneReading(phone)
  const tight = unwrapped(text)
  if (/\s/.test(tight)) return null
  const mentioned = readMention(inner)
  if (mentioned !== null) return accountReading(mentioned)
  return several.test(tight) ? null : readPage(tight, hints)
}

/** The subject that a value shows by itself. The kind is `text` if it is nothing else. Null if it is empty or too long. */
export const detect = (value: string): Subject | null => {
  if (value.length > lengthMax) return null
  const named = readValue(value, noHints)?.subject ?? digitsAsked(value)
  if (named !== null) return named
  const text = readText(value)
  return text === null ? null : subject("text", text)
}

/** In a query, 00 and digits are a phone number. In data they are more often an identifier. */
const digitsAsked = (value: string): Subject | null => {
  const text = value.trim()
  const phone = /^00[1-9]\d{8,14}$/.test(text) ? readPhone(text, { named: true, place: null }) : null
  return phone === null ? null : subject("phone", phone)
}

const readDomain = (text: string): string | null => {
  const email = readEmail(text, true)
  const rest = text.replace(/^(\*\.|@)/, "")
  const host = email?.host ?? readUrl(rest, true)?.host ?? readHost(rest)
  return host === null || host.registrable === null || !host.name.includes(".") ? null : host.name
}

const readHandle = (text: string): Account | null => {
  const url = /[./]/.test(text) && !text.startsWith("@") ? readUrl(text) : null
  const account = url === null ? null : accountOf(url)
  if (account !== null) return account.exact ? account.account : null
  if (url?.schemed || readAddress(text, true) !== null) return null
  return readAccount(text)
}

/** Reads a value as the given kind. Null if that is not possible. */
export const readAs = (value: string, kind: SubjectKind): Subject | null => {
  if (value.length > lengthMax) return null
  const text = visible(value).trim()
  const tight = unwrapped(text)
  const read = (): string | null | undefined => {
    switch (kind) {
      case "email":
        return readEmail(text, true)?.normalized
      case "domain":
        return readDomain(tight)
      case "network":
        return readNetwork(tight)
      case "url":
        return readUrl(tight, true)?.normalized
      case "handle": {
        const account = readHandle(tight)
        return account === null ? null : normalizedAccount(account)
      }
      case "phone": {
        const url = readUrl(tight)
        return (url === null ? null : chatPhone(url)) ?? readPhone(bare(text), { named: true, place: null })
      }
      case "text":
        return readText(value)
    }
  }
  const normalized = read()
  return normalized === null || normalized === undefined ? null : subject(kind, normalized)
}

/** A page that is a profile is indexed as the profile, so a query for the page looks up the profile. */
const urlKeys = (normalized: string): ReadonlyArray<string> => {
  const url = readUrl(normalized, true)
  const reading = url === null ? null : urlReading(url)
  if (reading === null || reading.subject.kind === "url" || reading.subject.kind === "domain")
    return [keyOf("u", normalized)]
  return queryKeys(reading.subject).slice(0, 1)
}

/**
 * The keys under which values that match this subject are indexed. A run matches if it has any of them. None for kind `text`, for which the
 * index of words is used.
 */
export const queryKeys = ({ kind, normalized }: Subject): ReadonlyArray<string> => {
  switch (kind) {
    case "email":
      return [keyOf("e", normalized)]
    case "domain":
      return [domainKey(normalized)]
    case "network":
      return [keyOf("n", normalized)]
    case "url":
      return urlKeys(normalized)
    case "handle": {
      const account = readAccount(normalized)
      return account === null ? [] : accountKeys(account)
    }
    case "phone":
      return [keyOf("p", normalized)]
    case "text":
      return []
  }
}
