/**
 * Titles and descriptions as plain text: no Markdown, no HTML, no links, cut at a sentence.
 *
 * All regular expressions have bounded repetitions, and the text is cut before it is searched.
 */

/** Length of an endpoint's description. */
export const descriptionCharactersMax = 600
export const titleCharactersMax = 160
/** Characters that are read before Markdown and HTML are removed. */
const readCharactersMax = 6_000

const blockTags = "p|br|li|ul|ol|div|h[1-6]|tr|td|th|table|thead|tbody|hr|pre|blockquote|details|summary"
const inlineTags = "a|b|i|u|s|em|strong|code|span|small|sub|sup|img|font|kbd|mark"
const blocks = new RegExp(`</?(?:${blockTags})(?:\\s[^<>]{0,500})?/?>`, "gi")
const inlines = new RegExp(`</?(?:${inlineTags})(?:\\s[^<>]{0,500})?/?>`, "gi")
const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  apos: "'",
  nbsp: " "
}

const stripped = (text: string): string =>
  text
    .replace(/!\[[^[\]\n]{0,200}\]\([^()\s]{0,500}\)/g, "")
    .replace(/\[([^[\]\n]{1,200})\]\([^()]{0,500}(?:\([^()]{0,100}\)[^()]{0,100})?\)/g, "$1")
    .replace(blocks, " ")
    .replace(inlines, "")
    .replace(/^ {0,3}#{1,6} +/gm, "")
    .replace(/\*\*([^*\n]{1,300})\*\*/g, "$1")
    .replace(/`{1,3}/g, "")
    .replace(/&(amp|lt|gt|quot|#39|apos|nbsp);/g, (whole, name: string) => entities[name] ?? whole)
    .replace(/\p{Cc}/gu, " ")
    .replace(/\s+/g, " ")
    .trim()

const cut = (text: string, max: number): string => {
  if (text.length <= max) return text
  const head = text.slice(0, max - 1)
  const sentence = Math.max(head.lastIndexOf(". "), head.lastIndexOf("! "), head.lastIndexOf("? "))
  if (sentence > max / 3) return head.slice(0, sentence + 1)
  const word = head.lastIndexOf(" ")
  return `${(word > max / 2 ? head.slice(0, word) : head).toWellFormed()}…`
}

export const plainText = (text: unknown, max: number = descriptionCharactersMax): string =>
  typeof text === "string" ? cut(stripped(text.slice(0, readCharactersMax).toWellFormed()), max) : ""

/** Turns `listAllThings` and `list_all_things` into "List all things". */
export const readable = (operationId: string): string => {
  const words = operationId
    .slice(0, titleCharactersMax)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[_\-./\s]+/g, " ")
    .trim()
    .split(" ")
    .map((word) => (/^[A-Z][a-z]*$/.test(word) ? word.toLowerCase() : word))
    .join(" ")
  return plainText(words.slice(0, 1).toUpperCase() + words.slice(1))
}
