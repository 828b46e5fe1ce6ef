/**
 * Extracts every subject that a JSON value names or mentions, with the path where it does.
 *
 * Any value of any shape gives a result, in time that grows with its size up to the limits below.
 */
import { readEmails } from "./Email.ts"
import type { Field } from "./Field.ts"
import { visible } from "./Form.ts"
import { readAccount } from "./Handle.ts"
import { readNetwork } from "./Network.ts"
import { network, platformCalled } from "./Platforms.ts"
import { type Budget, mentionsOfUrl, phoneCost, scan } from "./Scan.ts"
import { accountReading, emailReading, networkReading, type Reading, readValue } from "./Subject.ts"
import { type Around, type Visit, walk } from "./Walk.ts"

export interface Mention {
  /** An index key, such as `e:ada@example.com`. At most 300 characters. */
  readonly key: string
  /** The path, such as `items[3].email` or `["a.b"].c`. Empty for the value itself. */
  readonly path: string
  /** True if the value at the path names the subject itself. False if it only contains it or is on its domain. */
  readonly exact: boolean
}

/** Characters read per string: the text of a long page. */
const stringMax = 1_000_000
/** Characters read of all strings together. */
const charsMax = 4_000_000
/** Keys per value. A hundred search results give about a thousand. */
const keysMax = 5_000
/** Places in texts that may mention a subject. A long page has some thousands. This keeps hostile texts under a second. */
const placesMax = 50_000

/** Reads a value that is a subject only because of its field's name, such as a handle. */
const byField = (text: string, field: Field, { platform, parent }: Around): Reading | null => {
  if (text.length > 250 || /\s/.test(text) || (field.tellsPlatform && platformCalled(text) !== null)) return null
  const platformName = field.platform ?? platform
  const slug = field.slug ?? (field.handle && platformName === network ? "in" : null)
  if (slug !== null) {
    const profile = /^\d+$/.test(text) ? null : readNetwork(text, parent.company ? "company" : slug)
    return profile === null ? null : networkReading(profile)
  }
  const handle = field.handle || (field.generic && parent.handle && parent.platform !== null)
  if (!handle || !/[\p{L}\p{N}]/u.test(text) || /^(true|false|yes|no|null|none|n\/a|unknown)$/i.test(text)) return null
  const account = text.includes("/") ? null : readAccount(text, platformName === network ? null : platformName)
  return account === null ? null : accountReading(account)
}

const dialled = /^\s*\(?(\+|00)\d/

/** Any subject has one of these characters, unless only the field's name makes it one. */
const subjectSigns = /[@.+:/%\u0080-\uFFFF]|00/

/** Readings that are less exact than one by the field's name. */
const isVague = ({ subject: { kind, normalized } }: Reading): boolean =>
  kind === "domain" || (kind === "handle" && !normalized.includes("/"))

/** Limits an extraction to some keys. */
export interface Wanted {
  readonly keys: ReadonlySet<string>
  /** A lower-case text that is part of every plain value with one of these keys. Null if there is no such text. */
  readonly within: string | null
}
/** Text that normalization does not change, except for its case. */
const plainText = /^[\x20-\x24\x26-\x7e]*$/
const mayHold = (value: string, { within }: Wanted): boolean =>
  within === null || !plainText.test(value) || value.toLowerCase().includes(within)

/**
 * Extracts each key once, with the first path that names it, or else the first that mentions it. `complete` is false if the value exceeds a
 * limit. With `wanted`, it extracts only those keys and stops when one of them is named.
 */
export const extract = (
  json: unknown,
  wanted: Wanted | null = null
): { readonly mentions: ReadonlyArray<Mention>; readonly complete: boolean } => {
  const mentions = new Map<string, Mention>()
  let complete = true
  let chars = 0
  let over = false
  const budget: Budget = { left: placesMax }
  const add = (key: string, exact: boolean, path: () => string) => {
    if (wanted !== null && !wanted.keys.has(key)) return
    const earlier = mentions.get(key)
    if (earlier !== undefined && (earlier.exact || !exact)) return
    over = exact && wanted !== null
    if (earlier === undefined && mentions.size >= keysMax) complete = false
    else mentions.set(key, { key, path: path(), exact })
  }
  const named = ({ names }: Reading, path: () => string) => {
    for (const { key, exact } of names) add(key, exact, path)
  }
  const mentioned = ({ names }: Reading, path: () => string) => {
    for (const { key } of names) add(key, false, path)
  }
  const visit: Visit = (value, field, around, path) => {
    if (over) return
    if (budget.left <= 0 || mentions.size >= keysMax) {
      complete = false
      return
    }
    const phone = field.phone || (field.generic && around.parent.phone)
    const hinted = field.handle || field.slug !== null
    const mayBeSubject = phone || hinted || (typeof value === "string" && subjectSigns.test(value))
    if (phone || (mayBeSubject && typeof value === "string" && dialled.test(value))) budget.left -= phoneCost
    if (typeof value === "number") {
      const reading =
        phone && Number.isSafeInteger(value)
          ? readValue(String(value), { phone, place: around.place, host: false })
          : null
      if (reading?.subject.kind === "phone") named(reading, path)
      return
    }
    if (value === "") return
    chars += value.length
    if (chars > charsMax || value.length > stringMax) complete = false
    const room = Math.min(stringMax, value.length - Math.max(0, chars - charsMax))
    if (room <= 0) return
    if (!mayBeSubject || (wanted !== null && !mayHold(value, wanted))) return
    const host = field.host || (field.generic && around.parent.host)
    const reading = readValue(value, { phone, place: around.place, host })
    const vague = hinted && (reading === null || isVague(reading))
    const whole = (vague ? byField(visible(value).trim(), field, around) : null) ?? reading
    if (whole !== null) {
      named(whole, path)
      const { kind } = whole.subject
      if (kind === "url" || kind === "handle") mentionsOfUrl(value.trim(), (within) => mentioned(within, path))
      return
    }
    const several = readEmails(value)
    if (several !== null) for (const email of several) named(emailReading(email), path)
    else if (value.length > 5)
      scan(visible(value.length > room ? value.slice(0, room) : value), (within) => mentioned(within, path), budget)
  }
  const walked = walk(json, visit, (name, path) => {
    const reading = readValue(name, { phone: false, place: null, host: false })
    if (reading !== null) named(reading, path)
  })
  return { mentions: Array.from(mentions.values()), complete: complete && walked && budget.left > 0 }
}
