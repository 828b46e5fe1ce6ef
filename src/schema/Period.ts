/**
 * Periods of time in queries: `from` is inclusive; `to` is exclusive, except that a plain date includes its whole day. A date is a day of UTC,
 * or of the given time zones.
 *
 * A date is what people write, so from=2026-11-01&to=2026-11-30 is all of November.
 */
import { Schema } from "effect"
import { dayAt, dayEnd, dayStart, type Zones } from "./money/SpendDay.ts"

const expected = "expected a date such as 2026-11-22, or a time such as 2026-11-22T09:00:00Z"

const datePattern = /^2\d{3}-\d\d-\d\d$/
const timePattern = /^2\d{3}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+ -]\d\d:\d\d)$/i

/** Milliseconds since 1970. Null for anything else, such as 30 February. */
const millisOf = (text: string): number | null => {
  // In a query, a "+" that is not encoded arrives as a blank.
  const millis = timePattern.test(text) || datePattern.test(text) ? Date.parse(text.replace(" ", "+")) : Number.NaN
  if (Number.isNaN(millis)) return null
  const date = text.slice(0, 10)
  return new Date(Date.parse(date)).toISOString().startsWith(date) ? millis : null
}

/** The longest text of a time, with room to spare. The rules of times are stricter, so this is only for the document. */
export const timeCharsMax = 40

/** A date or a time with its zone, as text. */
export const Moment = Schema.String.check(
  Schema.makeFilter((text: string) => millisOf(text) !== null || expected, { expected }, true),
  Schema.isMaxLength(timeCharsMax)
)

/** The first moment of a period. */
export const fromOf = (text: string, zones?: Zones): Date =>
  new Date(datePattern.test(text) ? dayStart(text, zones) : (millisOf(text) ?? 0))

/** The first moment after a period. */
export const toOf = (text: string, zones?: Zones): Date =>
  datePattern.test(text) ? dayEnd(text, zones) : new Date(millisOf(text) ?? 0)

/** The first and the last day that a period touches. */
export const firstDayOf = (from: string, zones: Zones): string => dayAt(fromOf(from, zones).getTime(), zones)
export const lastDayOf = (to: string, zones: Zones): string => dayAt(toOf(to, zones).getTime() - 1, zones)
