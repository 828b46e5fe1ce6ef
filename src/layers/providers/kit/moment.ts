/**
 * Reads times in the formats of providers: seconds or milliseconds since 1970, or text.
 *
 * Exact times become ISO 8601. Text such as "3 days ago" stays unchanged.
 */
import { number, type Path, text } from "./read.ts"

/** The largest time of a JavaScript Date. */
const millisMax = 8.64e15
/** Matches "Tue Aug 27 12:02:20 +0000 2024". */
const twitterMoment = /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{2}:\d{2}:\d{2} [+-]\d{4} \d{4}$/

/** Null for zero, which providers use for "never". */
const iso = (millis: number): string | null =>
  millis > 0 && millis <= millisMax ? new Date(millis).toISOString() : null

export const seconds = (value: unknown, ...path: Path): string | null => iso((number(value, ...path) ?? 0) * 1000)

export const milliseconds = (value: unknown, ...path: Path): string | null => iso(number(value, ...path) ?? 0)

export const moment = (value: unknown, ...path: Path): string | null => {
  const written = text(value, ...path)
  return written !== null && twitterMoment.test(written) ? iso(Date.parse(written)) : written
}
