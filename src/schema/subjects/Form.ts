/**
 * What a run can be about: one person, company or page, in the one form under which all its spellings meet.
 *
 * Queries and writes share every function of this folder, so what is indexed is what is asked for.
 */

export const kinds = ["email", "domain", "network", "url", "handle", "phone", "text"] as const
export type Kind = (typeof kinds)[number]

/** `normalized` read again with `readAs(normalized, kind)` gives the same subject. */
export interface Subject {
  readonly kind: Kind
  readonly normalized: string
}

/** A key that a value is indexed under; exact when the value names the subject itself. */
export interface Name {
  readonly key: string
  readonly exact: boolean
}

/** Longer values name nobody; they may still mention somebody. Also the longest URL that servers agree on. */
export const lengthMax = 2_000
/** An index row holds it with its run; PostgreSQL's B-tree refuses entries above 2,700 bytes, and short keys are fast. */
export const keyMax = 300
/** What stays readable of a key that is too long. */
const stemMax = 200

/** Letters tell what kind of key it is, so that subjects of two kinds never meet. */
export const keyOf = (letter: string, normalized: string): string => {
  const key = `${letter}:${normalized}`
  if (key.length <= keyMax) return key
  const digest = new Bun.CryptoHasher("sha256").update(key).digest("base64url")
  return `${key.slice(0, stemMax).toWellFormed()}~${digest}`
}

/** Zero-width characters, direction marks, soft hyphens, byte order marks: nobody sees them, copying carries them along. */
const invisible = /[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/
const invisibles = new RegExp(invisible, "g")
export const visible = (value: string): string => (invisible.test(value) ? value.replace(invisibles, "") : value)

const nonAscii = /[\u0080-\uFFFF]/
export const isAscii = (value: string): boolean => !nonAscii.test(value)

/** Full-width and other typographic forms become plain ones. */
export const plain = (value: string): string => (isAscii(value) ? value : value.toWellFormed().normalize("NFKC"))

/** Lower case in which every spelling of a letter meets; stable when applied again. */
export const lower = (value: string): string =>
  isAscii(value) ? value.toLowerCase() : value.toWellFormed().normalize("NFC").toLowerCase().normalize("NFC")

const opening = new Set(["<", "(", "[", "{", '"', "'", "`", "“", "‘", "„", "«", "「", "*", "\u00bf", "\u00a1"])
const closing = new Set([..."<>)]}\"'`”’“»」*.,;:!?…。，、；：！？）】》"])

/** Without the quotes, brackets and full stops that stand around a value in a text. */
export const bare = (value: string): string => {
  let start = 0
  let end = value.length
  while (start < end && opening.has(value.charAt(start))) start++
  while (end > start && closing.has(value.charAt(end - 1))) end--
  return value.slice(start, end).trim()
}
