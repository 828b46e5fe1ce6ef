/** An amount as a user types it: "0.05" or "$0.05". It decodes to the same microdollars as the wire format. */
import { Schema, SchemaGetter } from "effect"
import { Usd } from "../../../schema/money/Money.ts"

export const TypedUsd = Schema.String.pipe(
  Schema.decodeTo(Usd, {
    decode: SchemaGetter.transform((text: string) => text.trim().replace(/^\$\s*/, "")),
    encode: SchemaGetter.transform((text: string) => text)
  })
)
