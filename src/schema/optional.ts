/** A member that a request may leave out or send as null, which is the same: see `withoutNulls`. */
import { Schema } from "effect"

export const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
