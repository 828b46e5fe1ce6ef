/**
 * Passes a column of many rows as one typed array parameter: `unnest(${texts(ids)}, ${bigints(amounts)})`.
 *
 * The element type is explicit, so an empty column or a column of nulls prepares the same statement as any other. Strings are made
 * storable here: no text of a provider, a caller or a payment processor can fail a statement.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import { storableJson, storableText } from "../../schema/json/StorableText.ts"

const column = (values: ReadonlyArray<unknown>, element: number) => Result.getOrThrow(PgTypes.array(values, element))

const storable = (change: (text: string) => string) => (value: string | null) => (value === null ? null : change(value))

export const texts = (values: ReadonlyArray<string | null>) =>
  column(values.map(storable(storableText)), PgTypes.OID.text)
/** JSON texts written by this service. A provider's own payload goes into `texts`, which keeps it byte for byte. */
export const jsons = (values: ReadonlyArray<string | null>) =>
  column(values.map(storable(storableJson)), PgTypes.OID.text)
export const bigints = (values: ReadonlyArray<bigint | null>) => column(values, PgTypes.OID.int8)
export const byteas = (values: ReadonlyArray<Uint8Array | null>) => column(values, PgTypes.OID.bytea)
export const booleans = (values: ReadonlyArray<boolean | null>) => column(values, PgTypes.OID.bool)
