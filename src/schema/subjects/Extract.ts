/**
 * What a JSON value is about: every subject that it names or mentions, with the place where it does.
 *
 * Total and bounded: any value of any shape gives an answer, in time that grows with its size up to the bounds below.
 */
import { readEmails } from "./Email.ts"
import type { Field } from "./Field.ts"
import { visible } from "./Form.ts"
import { readAccount } from "./Handle.ts"
import { readNetwork } from "./Network.ts"
import { network, platformCalled } from "./Platforms.ts"
import { type Budget, mentionsOfUrl, phoneCost, scan } from "./Scan.ts"
import { accountReading, emailReading, networkReading, type Reading, readValue } from "./Subject.ts"
import { holdsPhrase, searchable } from "./Text.ts"
import { type Around, type Visit, walk } from "./Walk.ts"

export interface Found {
  /** An index key, such as `e:ada@example.com`. At most 300 characters. */
  readonly key: string
  /** Where: `items[3].email`, `["a.b"].c`; empty for the value itself. */
  readonly path: string
  /** The value there names the subject itself, and does not only contain it or lie on its domain. */
  readonly exact: boolean
}

/** One string: the text of a long page. */
const stringMax = 1_000_000
/** All strings together. */
const charsMax = 4_000_000
/** Index rows of one value; a hundred search results give a thousand. */
const keysMax = 5_000
/** Places in texts that may mention somebody: a long page has some thousands. Keeps hostile texts under a second. */
const placesMax = 50_000
/** As much of a value is looked through for a phrase as the index of words reads of it. */
const textMax = 500_000

/** A value that only its field's name makes a subject. */
const byField = (text: string, field: Field, { platform, parent }: Around): Reading | null => {
  if (text.length > 250 || /\s/.test(text) || (field.tellsPlatform && platformCalled(text) !== null)) return null
  const spoken = field.platform ?? platform
  const slug = field.slug ?? (field.handle && spoken === network ? "in" : null)
  if (slug !== null) {
    const profile = /^\d+$/.test(text) ? null : readNetwork(text, parent.company ? "company" : slug)
    return profile === null ? null : networkReading(profile)
  }
  const handle = field.handle || (field.generic && parent.handle && parent.platform !== null)
  if (!handle || !/[\p{L}\p{N}]/u.test(text) || /^(true|false|yes|no|null|none|n\/a|unknown)$/i.test(text)) return null
  const account = text.includes("/") ? null : readAccount(text, spoken === network ? null : spoken)
  return account === null ? null : accountReading(account)
}

const dialled = /^\s*\(?(\+|00)\d/

/** Whoever is named or mentioned has one of these, unless the field's name tells. */
const telling = /[@.+:/%\u0080-\uFFFF]|00/

/** A field that knows the platform knows better. */
const isVague = ({ subject: { kind, normalized } }: Reading): boolean =>
  kind === "domain" || (kind === "handle" && !normalized.includes("/"))

/** Some keys only. */
export interface Wanted {
  readonly keys: ReadonlySet<string>
  /** Each plain text that gives one of them has this in it, in any case; null when there is no such thing. */
  readonly within: string | null
}
/** Nothing in it becomes another letter when it is read. */
const plainText = /^[\x20-\x24\x26-\x7e]*$/
const mayHold = (value: string, { within }: Wanted): boolean =>
  within === null || !plainText.test(value) || value.toLowerCase().includes(within)

/**
 * What a JSON value is about, each key once: with the first path that names it, or else the first that mentions it.
 * `complete: false` when the value exceeds the bounds; what was found within them is given. With `wanted` only those keys, up to where one of
 * them is named.
 */
export const extract = (
  json: unknown,
  wanted: Wanted | null = null
): { readonly found: ReadonlyArray<Found>; readonly complete: boolean } => {
  const found = new Map<string, Found>()
  let complete = true
  let chars = 0
  let over = false
  const budget: Budget = { left: placesMax }
  const add = (key: string, exact: boolean, path: () => string) => {
    if (wanted !== null && !wanted.keys.has(key)) return
    const known = found.get(key)
    if (known !== undefined && (known.exact || !exact)) return
    over = exact && wanted !== null
    if (known === undefined && found.size >= keysMax) complete = false
    else found.set(key, { key, path: path(), exact })
  }
  const named = ({ names }: Reading, path: () => string) => {
    for (const { key, exact } of names) add(key, exact, path)
  }
  const mentioned = ({ names }: Reading, path: () => string) => {
    for (const { key } of names) add(key, false, path)
  }
  const visit: Visit = (value, field, around, path) => {
    if (over) return
    if (budget.left <= 0 || found.size >= keysMax) {
      complete = false
      return
    }
    const phone = field.phone || (field.generic && around.parent.phone)
    const hinted = field.handle || field.slug !== null
    const told = phone || hinted || (typeof value === "string" && telling.test(value))
    if (phone || (told && typeof value === "string" && dialled.test(value))) budget.left -= phoneCost
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
    if (!told || (wanted !== null && !mayHold(value, wanted))) return
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
  return { found: Array.from(found.values()), complete: complete && walked && budget.left > 0 }
}

/** Where a phrase (the normalized form of kind `text`) stands; the first place that is nothing else, or else the first. */
export const findPhrase = (
  json: unknown,
  phrase: string
): { readonly path: string; readonly exact: boolean } | null => {
  let found: { readonly path: string; readonly exact: boolean } | null = null
  let room = textMax
  walk(json, (value, _field, _around, path) => {
    if (room <= 0 || found?.exact) return
    const line = searchable(String(value).slice(0, room))
    room -= line.length + 1
    const exact = line === phrase
    if (exact || (found === null && holdsPhrase(line, phrase))) found = { path: path(), exact }
  })
  return found
}
