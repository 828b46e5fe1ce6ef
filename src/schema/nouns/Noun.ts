/**
 * What the nouns of the service are described with. A noun has one schema: its type is what the service stores, with times as Date and money
 * as microdollars, and its encoded form is what JSON carries.
 *
 * The contract has `wire(Noun)`, so that clients read the same JSON as everybody. A handler answers `written(Noun)(row)`.
 */
import { Schema, SchemaGetter, Struct } from "effect"
import { signed, usd } from "../money/Money.ts"

const described = (description: string | undefined) =>
  description === undefined ? Schema.String : Schema.String.annotate({ description })

/** A time: ISO 8601 in UTC, with milliseconds. */
export const timeAs = (description?: string) =>
  described(description).pipe(
    Schema.decodeTo(Schema.Date, {
      decode: SchemaGetter.transform((text: string) => new Date(text)),
      encode: SchemaGetter.transform((time: Date) => time.toISOString())
    })
  )
export const time = timeAs()

/** An amount of money: decimal USD. */
export const amountAs = (description?: string) =>
  described(description).pipe(
    Schema.decodeTo(Schema.BigInt, {
      decode: SchemaGetter.transform((text: string): bigint => signed(text)),
      encode: SchemaGetter.transform(usd)
    })
  )
export const amount = amountAs()

type Fields = Schema.Struct.Fields

/** `example` is what JSON carries. The OpenAPI document shows it with every operation that answers the noun. */
export const noun = <const F extends Fields>(
  identifier: string,
  fields: F,
  example: Schema.Struct<F>["Encoded"],
  description?: string
): Schema.Struct<F> =>
  Schema.Struct(fields).annotate({ identifier, example, ...(description === undefined ? {} : { description }) })

/** The schema of the noun's JSON. */
export const wire = <F extends Fields>(of: Schema.Struct<F>) => {
  const { example, ...named } = of.ast.annotations ?? {}
  const annotations: Record<string, unknown> = example === undefined ? named : { ...named, examples: [example] }
  return of.mapFields(Struct.map(Schema.toEncoded)).annotate(annotations)
}

/** Writes a stored thing as its JSON. Columns that the noun does not have are left out. */
export const written = Schema.encodeSync
