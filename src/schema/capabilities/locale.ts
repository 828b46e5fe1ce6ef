/**
 * The fields for country, language and recency that several searches share.
 *
 * A country is two letters, and a language two letters with an optional region (pt-br), so adapters can translate them without guessing.
 */
import { Schema } from "effect"

export const country = (description: string) =>
  Schema.String.annotate({ description }).check(Schema.isPattern(/^[A-Za-z]{2}$/u))

export const language = (description: string) =>
  Schema.String.annotate({ description }).check(Schema.isPattern(/^[A-Za-z]{2}(-[A-Za-z]{2})?$/u))

export const recency = (description: string) =>
  Schema.Literals(["day", "week", "month", "year"]).annotate({ description })
