/** Flags that commands share. */
import { Schema } from "effect"
import { Flag } from "effect/cli"
import { methods } from "../../schema/Endpoint.ts"

const JsonText = Schema.fromJsonString(Schema.Json)
const JsonObjectText = Schema.fromJsonString(Schema.JsonObject)

export const input = Flag.String("input").pipe(
  Flag.withAlias("i"),
  Flag.withDescription("the input as JSON"),
  Flag.withSchema(JsonText)
)
export const object = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withSchema(JsonObjectText), Flag.optional)
export const method = Flag.Literals("method", methods).pipe(
  Flag.withDescription("for a path that takes several"),
  Flag.optional
)
export const maxCost = Flag.String("max-cost").pipe(
  Flag.withDescription("USD that the run may cost at most, such as 0.05"),
  Flag.optional
)
export const wait = Flag.Int("wait").pipe(
  Flag.withDescription("seconds to wait for the result, up to 120"),
  Flag.withDefault(30)
)
