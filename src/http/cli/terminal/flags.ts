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

const isLabel = (given: string) => given.indexOf("=") > 0

/** `--metadata campaign=spring --metadata customer=acme`: names with their values. */
export const metadata = (description: string) =>
  Flag.String("metadata").pipe(
    Flag.withDescription(description),
    Flag.atLeast(0),
    Flag.filter(
      (given) => given.every(isLabel),
      (given) => `--metadata must be name=value, such as campaign=spring, not ${given.find((one) => !isLabel(one))}`
    ),
    Flag.map(
      (given): ReadonlyArray<readonly [string, string]> =>
        given.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)] as const)
    )
  )

export const usd = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withSchema(TypedUsd))

export const yes = boolean("yes", "skip the confirmation").pipe(Flag.withAlias("y"))
