/**
 * Reads environment variables and collects what is wrong with them, so that all problems are reported together.
 *
 * An empty variable counts as unset. No message contains a value.
 */
import { Option, Redacted, Schema } from "effect"
import { dollars, Usd } from "../../schema/money/Money.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** Reads variables and collects invalid ones in `problems`. An empty variable counts as unset. */
export const reader = (environment: Environment) => {
  const problems: Array<string> = []
  const namesRead = new Set<string>()
  const text = (name: string) => {
    namesRead.add(name)
    return environment[name]?.trim() === "" ? undefined : environment[name]?.trim()
  }
  return {
    problems,
    namesRead,
    text,
    int: (name: string, fallback: number, min: number, max: number) => {
      const value = text(name)
      if (value === undefined) return fallback
      const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      problems.push(`${name} must be a whole number from ${min} to ${max}`)
      return fallback
    },
    oneOf: <A extends string>(name: string, fallback: A, values: ReadonlyArray<A>) => {
      const value = text(name)
      const choice = value === undefined ? fallback : values.find((one) => one === value)
      if (choice === undefined) problems.push(`${name} must be ${values.join(" or ")}`)
      return choice ?? fallback
    },
    usd: (name: string, fallback: string, least: "0" | "above 0" = "above 0") => {
      const amount = Schema.decodeOption(Usd)(text(name) ?? fallback)
      if (Option.isSome(amount) && (amount.value > 0n || least === "0")) return amount.value
      problems.push(`${name} must be an amount in USD${least === "0" ? "" : " above 0"}, such as ${fallback}`)
      return dollars(fallback)
    },
    /** A plain decimal string above `more` or from `least`, so that no exponent and no sign gets into a price. */
    decimal: (
      name: string,
      range: { readonly above?: number; readonly from?: number; readonly to: number; readonly decimals: number }
    ) => {
      const value = text(name)
      if (value === undefined) return null
      const number = new RegExp(`^\\d{1,9}(\\.\\d{1,${range.decimals}})?$`).test(value) ? Number(value) : Number.NaN
      if (number > (range.above ?? -1) && number >= (range.from ?? 0) && number <= range.to) return value
      const least = range.above === undefined ? `from ${range.from ?? 0}` : `above ${range.above}`
      problems.push(`${name} must be a decimal number ${least} to ${range.to}, with at most ${range.decimals} decimals`)
      return null
    },
    url: (name: string, protocols: ReadonlyArray<string>) => {
      const value = text(name)
      if (value === undefined) return null
      if (protocols.some((protocol) => value.startsWith(`${protocol}://`)) && URL.canParse(value)) return value
      problems.push(`${name} must be an address that starts with ${protocols.map((one) => `${one}://`).join(" or ")}`)
      return null
    }
  }
}
export type SettingsReader = ReturnType<typeof reader>

/** Characters that are valid in an HTTP header. A secret with a line break was copied by mistake. */
export const printable = /^[\x21-\x7e]+$/

export const secret = (text: string | null | undefined) =>
  text === null || text === undefined ? null : Redacted.make(text)

export const listOf = (read: SettingsReader, name: string): ReadonlyArray<string> =>
  (read.text(name) ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")
