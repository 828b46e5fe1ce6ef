/**
 * Makes strings from providers and callers safe to store and to display. Pure.
 *
 * Postgres can't store NUL in a text, and can't read NUL or half a surrogate pair in JSON. Both are replaced by U+FFFD.
 * `layers/postgres/Rows.ts` applies this to every text that is written, so other modules need no check.
 */

const replacement = "\ufffd"

/** A text without NUL. The driver itself writes half a surrogate pair as U+FFFD. */
export const storableText = (text: string): string => (text.includes("\0") ? text.replaceAll("\0", replacement) : text)

/** An escape of a JSON string: a whole surrogate pair, a NUL or half a pair, or any other. */
const escapes = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u0000|u[dD][89a-fA-F][\da-fA-F]{2})|.)/g

/** JSON text without escaped NULs and halves of surrogate pairs. Everything else stays as it is written. */
export const storableJson = (json: string): string =>
  json.includes("\\u")
    ? json.replace(escapes, (escape, broken: string | undefined) => (broken === undefined ? escape : "\\ufffd"))
    : json

/** Control characters can forge log lines, and bidirectional ones can make a line look like another. */
const unprintable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu
/**
 * Characters that nobody sees, so that two texts look the same. Some scripts and emoji need the two joiners, U+200C and U+200D. Emoji need
 * U+FE0F too, behind a picture or before the sign of a key.
 */
const invisible =
  /(?![\u200c\u200d]|(?<=\p{Extended_Pictographic})\ufe0f|\ufe0f\u20e3)[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u
/** Whether a text is one line without characters that are invisible, or hide or turn around what stands beside them. */
export const isPrintable = (text: string): boolean => text.search(unprintable) < 0 && !invisible.test(text)

/** Some providers send a whole page where a sentence is expected. */
export const detailLengthMax = 500

/** At most so many characters, and an ellipsis if there were more. An emoji at the end is left whole or replaced. */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text

const shortLine = (text: string, most: number): string => shortened(text, most).toWellFormed().replace(unprintable, " ")

/** A text from a provider or caller as one line: short, printable and storable. */
export const oneLineOf = (text: string): string => shortLine(text, detailLengthMax)

/** Longer than any name of a field that we or a provider publish. */
const nameLengthMax = 100
/** The name of a field that a caller sent, for a message: short, printable, and storable. */
export const shownName = (name: string): string => shortLine(name, nameLengthMax)
