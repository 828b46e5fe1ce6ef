/**
 * Texts of third parties' schemas as plain sentences. Pure.
 *
 * They came from web pages, so they have tags, Markdown, and sentences that run into each other. What they say stays; only its marks go.
 */

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " }

/** In this order: what one rule leaves is the next one's. */
const rules: ReadonlyArray<readonly [RegExp, string]> = [
  [/<br\s*\/?>|<\/(p|li|ul|div)>/gi, " "],
  [/<\/?[a-z][^<>]*>/gi, ""],
  [/!?\[([^\]]*)\]\([^)]*\)/g, "$1"],
  [/\*\*_/g, " "],
  [/\*\*|`/g, ""],
  // Words that were in italics between the letters of a sentence.
  [/([a-z]:?)_(true|false|null)\b/g, "$1 $2"],
  [/:_/g, ": "],
  // Whether a field is required is said beside its name.
  [/\.?\s*(required|optional) field(?!\s*if\b)(\.|;|(?=[a-z]))?\s*/g, ". "],
  [/(required|optional) fieldif\b/g, ". If"],
  [/;\./g, "."],
  [/([:,])\s*\.(?=\s|$)/g, "$1"],
  [/([.;])(?=[A-Z][a-z])/g, "$1 "],
  [/\s+/g, " "],
  [/^[.\s]+|\s+$/g, ""]
]

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

export const plainText = (text: string): string => {
  const plain = rules.reduce((left, [what, by]) => left.replace(what, by), text)
  // Last, so that an escaped tag stays a word.
  return capital(plain.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (all, name: string) => entities[name] ?? all))
}

/** A schema that says only in words that a field is required, and not on a condition. */
export const isCalledRequired = (text: string): boolean => /\brequired field(?!\s*(\.\s*)?if)/.test(text)

/** Abbreviations that are names of fields, or parts of them. */
const abbreviations = "URL URLs ID IDs API IP HTML CSS JSON SEO CIK UEI NAICS SIC".split(" ")
const shouted = new Map(abbreviations.map((one) => [one.toLowerCase(), one]))

/** `company_domain` and `companyDomain` as "Company domain". A name with other signs stays as it is. */
export const nameWords = (name: string): string => {
  if (!/^[a-z]([_-]?[A-Za-z0-9])*$/.test(name)) return name
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_-]/)
    .map((word) => shouted.get(word) ?? word)
  return capital(words.join(" "))
}

/** The same inside a sentence. Abbreviations stay as they are. */
export const labelWords = (name: string): string =>
  nameWords(name).replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())
