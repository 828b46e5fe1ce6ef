/**
 * Columns of many rows as one typed parameter each: `unnest(${texts(ids)}, ${bigints(amounts)})`.
 *
 * The type is said and not inferred, so a column of nothing but nulls, or of no rows, is the same statement as any other.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

const column = (values: ReadonlyArray<unknown>, element: number) => Result.getOrThrow(PgTypes.array(values, element))

export const texts = (values: ReadonlyArray<string | null>) => column(values, PgTypes.OID.text)
export const bigints = (values: ReadonlyArray<bigint | null>) => column(values, PgTypes.OID.int8)
export const byteas = (values: ReadonlyArray<Uint8Array | null>) => column(values, PgTypes.OID.bytea)
export const booleans = (values: ReadonlyArray<boolean | null>) => column(values, PgTypes.OID.bool)
