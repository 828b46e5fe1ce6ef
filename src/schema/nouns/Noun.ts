/**
 * What the nouns of the service are described with. A noun has one schema: its type is what the service stores, with times as Date and money
 * as microdollars, and its encoded form is what JSON carries.
 *
 * The contract names the noun, and its encoded form is the answer, so that clients read amounts and times as the texts that JSON carries
 * (http/api/shapes/Endpoint.ts). A handler answers `Schema.encodeSync(Noun)` of a row. Columns that the noun does not have are left out.
 */
import { Schema, SchemaGetter } from "effect"
import type { Prefix } from "../Ids.ts"
import { signed, usd } from "../money/Money.ts"

export const text = (description?: string) =>
  description === undefined ? Schema.String : Schema.String.annotate({ description })
export const nullableText = Schema.NullOr(Schema.String)

/** A text such as `example`. */
export const such = (example: string, description?: string) => text(description).annotate({ examples: [example] })

/** An id with this prefix. */
export const idOf = (prefix: Prefix, description?: string) => such(`${prefix}_01m81nzk5dej20zws915h61fdz`, description)
export const org_id = idOf("org")
export const run_id = idOf("run")
/** The name of an organization. */
export const organization = such("Acme")
export const email = such("jane@acme.example")
/** Slugs and the path of a raw endpoint. */
export const provider = such("hunter")
export const capability = such("email.find")
export const endpoint = such("/v1/people")

/** A day in UTC. */
export const dayAs = (description?: string) => text(description).annotate({ format: "date" })

/** A time: ISO 8601 in UTC, with milliseconds. */
export const timeAs = (description?: string, example?: string) =>
  (example === undefined ? text(description) : such(example, description)).annotate({ format: "date-time" }).pipe(
    Schema.decodeTo(Schema.Date, {
      decode: SchemaGetter.transform((text: string) => new Date(text)),
      encode: SchemaGetter.transform((time: Date) => time.toISOString())
    })
  )
export const time = timeAs()
/** For JSON that is written by hand. */
export const timeText = Schema.toEncoded(time)

/** An amount of money: decimal USD. */
export const amountAs = (description?: string) =>
  text(description)
    .annotate({ format: "decimal" })
    .pipe(
      Schema.decodeTo(Schema.BigInt, {
        decode: SchemaGetter.transform((text: string): bigint => signed(text)),
        encode: SchemaGetter.transform(usd)
      })
    )
export const amount = amountAs()
/** For JSON that is written by hand. */
export const amountText = Schema.toEncoded(amount)

/** A whole number that PostgreSQL counts as bigint. */
export const countAs = (description?: string) =>
  (description === undefined ? Schema.Int : Schema.Int.annotate({ description })).pipe(
    Schema.decodeTo(Schema.BigInt, {
      decode: SchemaGetter.transform((count: number) => BigInt(count)),
      encode: SchemaGetter.transform((count: bigint) => Number(count))
    })
  )
export const count = countAs()

/** `example` is what JSON carries. The OpenAPI document shows it wherever the schema stands alone or in a list. */
export const withExample =
  <S extends Schema.Top>(example: NoInfer<S["Encoded"]>) =>
  (schema: S): S["Rebuild"] => {
    const annotations: Record<string, unknown> = { examples: [example] }
    return schema.annotate(annotations)
  }

/** A schema that the OpenAPI document has by its name, among its components. */
export const component = <const F extends Schema.Struct.Fields>(identifier: string, fields: F) =>
  Schema.Struct(fields).annotate({ identifier })

/** A page of a list of nouns. */
export const pageOf = <S extends Schema.Constraint>(item: S) =>
  Schema.Struct({ items: Schema.Array(item), next_cursor: nullableText })

/** The answer to the removal of one of a noun. */
export const removed = (prefix: Prefix, identifier: string) =>
  component(identifier, { id: idOf(prefix), deleted: Schema.Literal(true) })
