/** What tells a run apart in a list: the first texts of its input, such as a name and a domain. Pure. */
import { shortened } from "../json/StorableText.ts"

/** Texts, and characters of each. */
const textsMax = 2
const charsMax = 60

const firstText = (value: unknown): string =>
  typeof value === "string" ? value.trim() : Array.isArray(value) ? firstText(value[0]) : ""

const isText = (text: string) => text !== ""

/** `input` is JSON text. Null for an input without a text of its own, and for one that was erased. */
export const inputSubject = (input: string | null): string | null => {
  const value: unknown = input === null ? null : JSON.parse(input)
  if (typeof value !== "object" || value === null) return null
  const texts = Object.values(value)
    .map(firstText)
    .filter(isText)
    .slice(0, textsMax)
    .map((text) => shortened(text, charsMax))
  return texts.length === 0 ? null : texts.join(", ")
}
