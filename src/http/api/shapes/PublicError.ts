/**
 * The public error as clients read it. Any code is accepted, because a newer service may have more. A separate module, because loading the
 * whole contract takes longer.
 */
import { Option, Schema } from "effect"
import { Detail } from "../../../schema/Errors.ts"

export const PublicError = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    details: Schema.optionalKey(Schema.Array(Detail))
  }),
  request_id: Schema.optionalKey(Schema.String)
})
export type PublicError = typeof PublicError.Type

const decode = Schema.decodeUnknownOption(PublicError)
const decodeText = Schema.decodeUnknownOption(Schema.fromJsonString(PublicError))
/** Null if the value is not a public error. */
export const publicError = (value: unknown): PublicError | null => Option.getOrNull(decode(value))
export const publicErrorIn = (text: string): PublicError | null => Option.getOrNull(decodeText(text))
