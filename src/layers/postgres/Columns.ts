/**
 * Columns of many rows as one typed parameter each: `unnest(${texts(ids)}, ${bigints(amounts)})`.
 *
 * The type is said and not inferred, so a column of nothing but nulls, or of no rows, is the same statement as any other.
 * This is also where every string becomes storable: whatever a provider, a caller or a payment processor sent, no statement
 * fails because of it.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import { storableJson, storableText } from "../../schema/json/StorableText.ts"

const column = (values: ReadonlyArray<unknown>, element: number) => Result.getOrThrow(PgTypes.array(values, element))

const storable = (change: (text: string) => string) => (value: string | null) => (value === null ? null : change(value))

export const texts = (values: ReadonlyArray<string | null>) =>
  column(values.map(storable(storableText)), PgTypes.OID.text)
/** JSON texts that this service has written. A provider's own payload goes into `texts`: it stays as it came, byte for byte. */
export const jsons = (values: ReadonlyArray<string | null>) =>
  column(values.map(storable(storableJson)), PgTypes.OID.text)
export const bigints = (values: ReadonlyArray<bigint | null>) => column(values, PgTypes.OID.int8)
export const byteas = (values: ReadonlyArray<Uint8Array | null>) => column(values, PgTypes.OID.bytea)
export const booleans = (values: ReadonlyArray<boolean | null>) => column(values, PgTypes.OID.bool)
