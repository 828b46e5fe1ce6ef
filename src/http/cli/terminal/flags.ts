/** The forms of flags that most commands have. */
import { Option } from "effect"
import { Flag } from "effect/cli"
import { TypedUsd } from "./TypedUsd.ts"

/** False when it is left out. */
export const boolean = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** Null when it is left out. */
export const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional, Flag.map(Option.getOrNull))

export const usd = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withSchema(TypedUsd))

export const yes = boolean("yes", "skip the confirmation").pipe(Flag.withAlias("y"))
