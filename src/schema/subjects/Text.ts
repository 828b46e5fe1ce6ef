/**
 * Reads phrases of free text, which ignore case and the white space between words.
 *
 * The index of words (schema/words/Term.ts) uses the same form (`searchable`) for a run's strings.
 */
import { isAscii, lengthMax, visible } from "./Form.ts"

/** Control characters count as white space. */
const blank = /[\s\p{Cc}]+/gu

const folded = (value: string): string =>
  isAscii(value)
    ? value.toLowerCase()
    : value
        .toWellFormed()
        .normalize("NFKC")
        .toLowerCase()
        .toUpperCase()
        .toLowerCase()
        .normalize("NFKC")
        .replaceAll("ς", "σ")

/** Text in the form in which phrases are compared. */
export const searchable = (value: string): string => folded(visible(value)).replace(blank, " ").trim()

const quotes = [`""`, "“”", "„“", "«»"]

/** The phrase to search for, without quotes around it. Null if nothing is left. */
export const readText = (value: string): string | null => {
  if (value.length > lengthMax) return null
  let text = searchable(value)
  while (text.length > 1 && quotes.includes(text.charAt(0) + text.charAt(text.length - 1)))
    text = text.slice(1, -1).trim()
  return text === "" || text.length > lengthMax ? null : text
}
