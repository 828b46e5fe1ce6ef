/**
 * Reads moments as providers write them: seconds or milliseconds since 1970, or words.
 *
 * What can be told exactly becomes ISO 8601; words that only people understand ("3 days ago") stay as they are.
 */
import { number, type Path, text } from "./read.ts"

/** The last millisecond that a Date can hold. */
const millisMax = 8.64e15
/** "Tue Aug 27 12:02:20 +0000 2024" */
const twitterMoment = /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{2}:\d{2}:\d{2} [+-]\d{4} \d{4}$/

/** Zero is how providers write "never". */
const iso = (millis: number): string | null =>
  millis > 0 && millis <= millisMax ? new Date(millis).toISOString() : null

export const seconds = (value: unknown, ...path: Path): string | null => iso((number(value, ...path) ?? 0) * 1000)

export const milliseconds = (value: unknown, ...path: Path): string | null => iso(number(value, ...path) ?? 0)

export const moment = (value: unknown, ...path: Path): string | null => {
  const found = text(value, ...path)
  return found !== null && twitterMoment.test(found) ? iso(Date.parse(found)) : found
}
