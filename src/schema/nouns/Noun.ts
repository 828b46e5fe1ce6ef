/**
 * What the nouns of the service are described with. A noun has one schema: its type is what the service stores, with times as Date and money
 * as microdollars, and its encoded form is what JSON carries.
 *
 * The contract has `Schema.toEncoded(Noun)`, so that clients read amounts and times as the texts that JSON carries. A handler answers
 * `Schema.encodeSync(Noun)` of a row. Columns that the noun does not have are left out.
 */
import { Schema, SchemaGetter } from "effect"
import { signed, usd } from "../money/Money.ts"

export const text = (description?: string) =>
  description === undefined ? Schema.String : Schema.String.annotate({ description })

/** An id with this prefix. */
export const idOf = (prefix: string) => Schema.String.annotate({ examples: [`${prefix}_01m81nzk5dej20zws915h61fdz`] })

/** A time: ISO 8601 in UTC, with milliseconds. */
export const timeAs = (description?: string) =>
  text(description).pipe(
    Schema.decodeTo(Schema.Date, {
      decode: SchemaGetter.transform((text: string) => new Date(text)),
      encode: SchemaGetter.transform((time: Date) => time.toISOString())
    })
  )
export const time = timeAs()

/** An amount of money: decimal USD. */
export const amountAs = (description?: string) =>
  text(description).pipe(
    Schema.decodeTo(Schema.BigInt, {
      decode: SchemaGetter.transform((text: string): bigint => signed(text)),
      encode: SchemaGetter.transform(usd)
    })
  )
export const amount = amountAs()

/** `example` is what JSON carries. The OpenAPI document shows it wherever the schema stands alone or in a list. */
export const withExample =
  <S extends Schema.Top>(example: NoInfer<S["Encoded"]>) =>
  (schema: S): S["Rebuild"] => {
    const annotations: Record<string, unknown> = { examples: [example] }
    return schema.annotate(annotations)
  }
