/**
 * What all LeadMagic answers share: the credits that a call consumed, with fractions, the answer to a miss, and two ways to write fields.
 *
 * A miss consumes nothing.
 */
import type { Outcome, Reply } from "../../../schema/catalog/Provider.ts"
import { cost, errorText, noMatch, refusal } from "../kit/outcome.ts"
import { at } from "../kit/read.ts"

export const note = "Published rate of the Basic plan, the smallest; larger plans pay $0.01 per credit and less."

export const consumed = (reply: Reply) => cost("credit", reply.body, "credits_consumed")

export const notFound = 404

/** A 404 that says what was not found is a miss. One about the route, or without a subject, is an error. */
const namesSubject = (words: string): boolean =>
  /\w (was |were )?not found/i.test(words) && !/route|endpoint|path|page not|cannot (get|post)/i.test(words)

/** The outcome of a 404, as a miss costs nothing. Undefined for other statuses. */
export const missed = (reply: Reply): Outcome<never> | undefined => {
  if (reply.status !== notFound) return undefined
  return namesSubject(errorText(reply))
    ? noMatch("nothing on record", consumed(reply) ?? { unit: "credit", amount: "0" })
    : refusal(reply)
}

/** A field by its documented name, such as `company_name`, or by the one in live answers of 2026-07: `companyName`. */
export const field = (value: unknown, name: string): unknown =>
  at(value, name) ??
  at(
    value,
    name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  )
