/**
 * Where, in which language and how recent: the fields that searches of every kind share.
 *
 * Countries are two letters and languages two or two plus two, so an adapter can translate them without guessing.
 */
import { Schema } from "effect"

export const country = (description: string) =>
  Schema.String.annotate({ description }).check(Schema.isPattern(/^[A-Za-z]{2}$/u))

export const language = (description: string) =>
  Schema.String.annotate({ description }).check(Schema.isPattern(/^[A-Za-z]{2}(-[A-Za-z]{2})?$/u))

export const recency = (description: string) =>
  Schema.Literals(["day", "week", "month", "year"]).annotate({ description })
