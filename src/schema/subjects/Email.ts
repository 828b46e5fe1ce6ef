/**
 * E-mail addresses: case, `mailto:`, display names, quotes and brackets around them make no difference.
 *
 * `ada+news@example.com` and `ada@example.com` are two addresses, and so are `a.da@` and `ada@`: what a mail server makes
 * of tags and dots is its own affair, and taking two people for one is worse than missing a match.
 */
import { type Host, isDomain, readHost } from "./Domain.ts"
import { bare, lengthMax, lower, plain } from "./Form.ts"

export interface Email {
  readonly normalized: string
  readonly host: Host
}

const localMax = 64
const local = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u
/** As most are: no brackets, quotes or full stop around it, no name, no scheme, and no letters that have two forms. */
const undressed = /^[\w+-]+(?:\.[\w+-]+)*@[\w.-]*[\w-]$/
const mailto = /^(?:mailto|smtp|e-?mail):\/{0,2}/i

/** An address without anything around it. `loose`: any host with a dot will do, though its ending be unknown. */
export const readAddress = (text: string, loose = false): Email | null => {
  if (text.length <= lengthMax && undressed.test(text)) return usualAddress(text, loose)
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

/** A whole value that is one address, in any dress. */
export const readEmail = (value: string, loose = false): Email | null => {
  if (value.length > lengthMax || !sign.test(value)) return null
  if (undressed.test(value)) return usualAddress(value, loose)
  let text = plain(value).trim()
  const open = text.lastIndexOf("<")
  const close = text.lastIndexOf(">")
  // What stands before the brackets is a name, not a sentence.
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

/** A quoted local part keeps its quotes until it is read; `bare` would take the first one only. */
const bareAddress = (text: string): string => {
  const trimmed = bare(text)
  return /^[^"]+"@/.test(trimmed) ? `"${trimmed}` : trimmed
}

/** Several addresses, as in the head of a message; null unless every part is one. */
export const readEmails = (value: string, loose = false): ReadonlyArray<Email> | null => {
  if (value.length > lengthMax || !/[,;]/.test(value) || !sign.test(value)) return null
  const found: Array<Email> = []
  for (const part of value.split(/[,;]/)) {
    if (part.trim() === "") continue
    const email = readEmail(part, loose)
    if (email === null) return null
    found.push(email)
  }
  return found.length === 0 ? null : found
}
