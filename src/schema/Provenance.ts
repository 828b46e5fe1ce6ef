/**
 * Where a shipped document of the catalog was read, under which licence, and what the package may take from it.
 *
 * Names, types and ranges are facts. Sentences belong to who wrote them: a document keeps a vendor's sentences only if the
 * licence of the source allows to pass them on. Otherwise its descriptions are this project's own, and short.
 */
import { Schema } from "effect"

/** SPDX names. `unstated`: the source names no licence. `own`: this project wrote it. */
export const licences = ["MIT", "Apache-2.0", "CC0-1.0", "unstated", "own"] as const
export type Licence = (typeof licences)[number]

/** Licences that let a package pass a vendor's sentences on. MIT and Apache-2.0 ask for their notice: THIRD_PARTY_NOTICES has it. */
export const allowsTexts = (licence: Licence): boolean => licence !== "unstated"
export const needsNotice = (licence: Licence): boolean => licence === "MIT" || licence === "Apache-2.0"

export const Provenance = Schema.Struct({
  /** The address of the document or of the documentation. */
  source: Schema.String.check(Schema.isPattern(/^https:\/\/[^\s]{4,300}$/u, { message: "must be an https address" })),
  licence: Schema.Literals(licences),
  /** The day on which it was read, such as `2026-11-22`. */
  read: Schema.String.check(
    Schema.isPattern(/^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/u, { message: "must be a day such as 2026-11-22" })
  ),
  /** `facts`: names, types, ranges, prices. `texts`: sentences too. */
  takes: Schema.Literals(["facts", "texts"]),
  /** Patterns over `METHOD /path` of the endpoints that it describes. Absent: all. */
  endpoints: Schema.optionalKey(Schema.Array(Schema.NonEmptyString))
})
export type Provenance = typeof Provenance.Type

/** An own description has at most so many words. A longer one is likely somebody else's text. */
export const ownEndpointWordsMax = 40
export const ownFieldWordsMax = 20
