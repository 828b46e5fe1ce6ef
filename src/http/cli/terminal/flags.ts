/** The forms of flags that most commands have. */
import { Option, Schema, SchemaGetter } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Usd, usd as usdText } from "../../../schema/money/Money.ts"

/** What was typed for these flags and arguments. */
export type FlagsOf<Flags extends Command.Command.Config> = Command.Command.Config.Infer<Flags>

/** False when it is left out. */
export const boolean = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** Null when it is left out. */
export const optional = <A>(flag: Flag.Flag<A>) => flag.pipe(Flag.optional, Flag.map(Option.getOrNull))

export const required = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description))

/** Null when it is left out. */
export const text = (name: string, description: string) => optional(required(name, description))

export const argument = (name: string, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description))

export const optionalArgument = <A>(argument: Argument.Argument<A>, description: string) =>
  argument.pipe(Argument.withDescription(description), Argument.optional, Argument.map(Option.getOrNull))

export const int = (name: string, description: string) => Flag.Int(name).pipe(Flag.withDescription(description))

/** A whole number of a range. */
export const between = (name: string, least: number, most: number, description: string) =>
  int(name, description).pipe(
    Flag.filter(
      (given) => given >= least && given <= most,
      (given) => `--${name} must be from ${least} to ${most}, not ${given}`
    )
  )

/** One of several words. */
export const oneOf = <const A extends ReadonlyArray<string>>(name: string, words: A, description: string) =>
  Flag.Literals(name, words).pipe(Flag.withDescription(description))

/** The same. Null when it is left out. */
export const choice = <const A extends ReadonlyArray<string>>(name: string, words: A, description: string) =>
  optional(oneOf(name, words, description))

const isLabel = (given: string) => given.indexOf("=") > 0

/** `--metadata campaign=spring --metadata customer=acme`: names with their values. */
export const metadata = (description: string, flag = "metadata") =>
  Flag.String(flag).pipe(
    Flag.withDescription(description),
    Flag.atLeast(0),
    Flag.filter(
      (given) => given.every(isLabel),
      (given) => `--${flag} must be name=value, such as campaign=spring, not ${given.find((one) => !isLabel(one))}`
    ),
    Flag.map(
      (given): ReadonlyArray<readonly [string, string]> =>
        given.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)] as const)
    )
  )

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
/** 0 for a text that is no duration. */
export const durationSeconds = (given: string): number => {
  const [, count = "", unit = ""] = /^([1-9]\d{0,8})([smhd])$/.exec(given) ?? []
  return Number(count) * (unitSeconds[unit] ?? 0)
}

/** A time that is given as a duration from or before now. Another text stays as it is, and the service checks it. */
export const momentOf = (given: string, now: number, direction: 1 | -1): string => {
  const seconds = durationSeconds(given)
  const moment = new Date(now + direction * seconds * 1000)
  return seconds === 0 || Number.isNaN(moment.getTime()) ? given : moment.toISOString()
}

/** A duration such as 30d, 12h, 45m or 90s, in seconds. Null when it is left out. */
export const duration = (name: string, description: string) =>
  optional(
    required(name, description).pipe(
      Flag.filter(
        (given) => durationSeconds(given) > 0,
        (given) => `--${name} must be a duration such as 30d, 12h, 45m or 90s, not ${given}`
      ),
      Flag.map(durationSeconds)
    )
  )

/** An amount as a user types it: "0.05" or "$0.05". It decodes to the same microdollars as the wire format. */
export const TypedUsd = Schema.String.pipe(
  Schema.decodeTo(Usd, {
    decode: SchemaGetter.transform((text: string) => text.trim().replace(/^\$\s*/, "")),
    encode: SchemaGetter.transform((text: string) => text)
  })
)

export const usd = (name: string, description: string) => required(name, description).pipe(Flag.withSchema(TypedUsd))

/** An amount as the service reads it: "$0.05" is "0.05". */
export const amount = (name: string, description: string) => Flag.map(usd(name, description), usdText)
export const amountArgument = (description: string) =>
  argument("amount", description).pipe(Argument.withSchema(TypedUsd), Argument.map(usdText))

export const yes = boolean("yes", "skip the confirmation").pipe(Flag.withAlias("y"))

/** What to type, each with what it does. */
export type Examples = Readonly<Record<string, string>>
export const withExamples = (examples: Examples) =>
  Command.withExamples(Object.entries(examples).map(([command, description]) => ({ command, description })))
