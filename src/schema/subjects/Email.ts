/**
 * Reads e-mail addresses. Case, `mailto:`, display names, quotes and brackets around them make no difference.
 *
 * `ada+news@example.com` and `ada@example.com` are two addresses, and so are `a.da@` and `ada@`. Mail servers treat tags and dots
 * differently, and mistaking two people for one is worse than missing a match.
 */
import { type Host, isDomain, readHost } from "./Domain.ts"
import { bare, lengthMax, lower, plain } from "./Form.ts"

export interface Email {
  readonly normalized: string
  readonly host: Host
}

const localMax = 64
const local = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u
/** The usual form: no brackets, quotes, punctuation, name or scheme around the address, and only letters with one form. */
const usualForm = /^[\w+-]+(?:\.[\w+-]+)*@[\w.-]*[\w-]$/
const mailto = /^(?:mailto|smtp|e-?mail):\/{0,2}/i

/** Reads an address with nothing around it. With `loose`, any host with a dot is accepted, even with an unknown top-level domain. */
export const readAddress = (text: string, loose = false): Email | null => {
  if (text.length <= lengthMax && usualForm.test(text)) return usualAddress(text, loose)
  const at = text.lastIndexOf("@")
  if (at < 1 || at > localMax + 2 || text.length > localMax + 1 + 1_012) return null
  const name = lower(plain(text.slice(0, at))).replace(/^"([^"\\]+)"$/, "$1")
  return local.test(name) ? addressOf(name, plain(text.slice(at + 1)), loose) : null
}

const usualAddress = (text: string, loose: boolean): Email | null => {
  const address = text.toLowerCase()
  const at = address.indexOf("@")
  return addressOf(address.slice(0, at), address.slice(at + 1), loose)
}

const addressOf = (name: string, place: string, loose: boolean): Email | null => {
  if (name.length > localMax) return null
  const host = readHost(place)
  if (host === null || host.registrable === null || !(loose || isDomain(host))) return null
  return { normalized: `${name}@${host.name}`, host }
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const sign = /[@＠]|%40/

/** Reads a value that is one address as a whole, with or without a name, brackets or scheme around it. */
export const readEmail = (value: string, loose = false): Email | null => {
  if (value.length > lengthMax || !sign.test(value)) return null
  if (usualForm.test(value)) return usualAddress(value, loose)
  let text = plain(value).trim()
  const open = text.lastIndexOf("<")
  const close = text.lastIndexOf(">")
  // The text before the brackets must be a name and not a sentence.
  if (open > 0 && close > open && /^[\s.,;]*$/.test(text.slice(close + 1))) text = text.slice(open + 1, close)
  text = bare(text)
  const scheme = mailto.exec(text)?.[0]
  if (scheme !== undefined) {
    const rest = text.slice(scheme.length).trim()
    const question = rest.indexOf("?")
    text = decoded(question < 0 ? rest : rest.slice(0, question))
  }
  return readAddress(bareAddress(text), loose)
}

/** Keeps the quotes of a quoted local part, because `bare` would remove only the first one. */
const bareAddress = (text: string): string => {
  const trimmed = bare(text)
  return /^[^"]+"@/.test(trimmed) ? `"${trimmed}` : trimmed
}

/** Reads a list of addresses, as in a message header. Null if any part is not an address. */
export const readEmails = (value: string): ReadonlyArray<Email> | null => {
  if (value.length > lengthMax || !/[,;]/.test(value) || !sign.test(value)) return null
  const emails: Array<Email> = []
  for (const part of value.split(/[,;]/)) {
    if (part.trim() === "") continue
    const email = readEmail(part)
    if (email === null) return null
    emails.push(email)
  }
  return emails.length === 0 ? null : emails
}
