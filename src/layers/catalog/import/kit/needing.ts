/** Requires fields of an endpoint that its schema does not require, because the provider says so in words only. */
import type { Schema } from "effect"

/** Groups of fields, of which one group must be given completely. They are fields of the body, or of the query if there is no body. */
export type Needs = ReadonlyArray<ReadonlyArray<string>>

export const requiring = (schema: Schema.JsonObject, names: ReadonlyArray<string>): Schema.JsonObject => {
  const before = Array.isArray(schema["required"]) ? schema["required"] : []
  return names.length === 0 ? schema : { ...schema, required: [...new Set([...before, ...names])] }
}

/** Requires one of the groups of fields, beside what the schema itself requires. */
export const needing = (schema: Schema.JsonObject, needs: Needs = []): Schema.JsonObject => {
  const [first = [], ...others] = needs
  if (others.length === 0) return requiring(schema, first)
  return { ...schema, anyOf: needs.map((required) => ({ required: [...required] })) }
}
