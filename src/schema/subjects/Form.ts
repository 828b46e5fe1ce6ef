/**
 * A subject of a run: a person, company, page or text, in one normalized form for all its spellings.
 *
 * Queries and the index share every function of this folder, so a query finds what was indexed.
 */

export const kinds = ["email", "domain", "network", "url", "handle", "phone", "text"] as const
export type SubjectKind = (typeof kinds)[number]

/** `normalized` read again with `readAs(normalized, kind)` gives the same subject. */
export interface Subject {
  readonly kind: SubjectKind
  readonly normalized: string
}

/** A key under which a value is indexed. `exact` if the value names the subject itself. */
export interface Name {
  readonly key: string
  readonly exact: boolean
}

/** Longer values name no subject, but may mention some. It is also the longest URL that all servers accept. */
export const lengthMax = 2_000
/** Maximum length of a key. Longer keys are shortened with a hash, because short keys are fast. */
export const keyMax = 300
/** Characters that a shortened key keeps. */
const stemMax = 200

/** A key begins with a letter for its kind, so that subjects of two kinds never collide. */
export const keyOf = (letter: string, normalized: string): string => {
  const key = `${letter}:${normalized}`
  if (key.length <= keyMax) return key
  const digest = new Bun.CryptoHasher("sha256").update(key).digest("base64url")
  return `${key.slice(0, stemMax).toWellFormed()}~${digest}`
}

/** Zero-width characters, direction marks, soft hyphens and byte order marks: invisible, but often copied along. */
const invisible = /[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/
const invisibles = new RegExp(invisible, "g")
export const visible = (value: string): string => (invisible.test(value) ? value.replace(invisibles, "") : value)

const nonAscii = /[\u0080-\uFFFF]/
export const isAscii = (value: string): boolean => !nonAscii.test(value)

/** Replaces full-width and other typographic forms by plain characters. */
export const plain = (value: string): string => (isAscii(value) ? value : value.toWellFormed().normalize("NFKC"))

/** Lower case with one form for every letter. Applying it again changes nothing. */
export const lower = (value: string): string =>
  isAscii(value) ? value.toLowerCase() : value.toWellFormed().normalize("NFC").toLowerCase().normalize("NFC")

const opening = new Set(["<", "(", "[", "{", '"', "'", "`", "“", "‘", "„", "«", "「", "*", "\u00bf", "\u00a1"])
const closing = new Set([..."<>)]}\"'`”’“»」*.,;:!?…。，、；：！？）】》"])

/** Removes the quotes, brackets and punctuation around a value in a text. */
export const bare = (value: string): string => {
  let start = 0
  let end = value.length
  while (start < end && opening.has(value.charAt(start))) start++
  while (end > start && closing.has(value.charAt(end - 1))) end--
  return value.slice(start, end).trim()
}
