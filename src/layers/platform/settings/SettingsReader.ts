/**
 * Reads environment variables, collects what is wrong with them, so that all problems are reported together, and notes what each setting is.
 *
 * The notes of one reading are the table of settings (settings/settingsTable.ts). An empty variable counts as unset. No message contains a value.
 */
import { Option, Redacted, Schema } from "effect"
import { dollars, type MicroUsd, Usd } from "../../../schema/money/Money.ts"

export type Environment = Readonly<Record<string, string | undefined>>

export interface Setting {
  /** The variable. `<SLUG>` stands for a provider's slug in capitals. */
  readonly name: string
  readonly kind: "text" | "number" | "decimal" | "usd" | "choice" | "address" | "list"
  /** The value that an unset variable has, or words for one that depends on something else. Markdown of docs/operate.md. */
  readonly default: string
  /** Markdown of docs/operate.md. */
  readonly description: string
  /** A secret is never shown, and may come from the file that `<name>_FILE` names. */
  readonly secret: boolean
  /** Whether a running service takes a new value (`rungate admin reload`). Other settings need a restart. */
  readonly reloads: boolean
}

type Marks = Partial<Pick<Setting, "kind" | "default" | "secret" | "reloads">>

interface Range {
  readonly above?: number
  readonly from?: number
  readonly to: number
  readonly decimals: number
}

export const reader = (environment: Environment) => {
  const problems: Array<string> = []
  const settings: Array<Setting> = []
  const textOf = (name: string) => (environment[name]?.trim() === "" ? undefined : environment[name]?.trim())
  const noted = (
    name: string,
    kind: Setting["kind"],
    usual: string | number | null,
    description: string,
    marks?: Marks
  ) => {
    const otherwise = usual === null ? "unset" : `\`${usual}\``
    settings.push({ name, kind, default: otherwise, description, secret: false, reloads: false, ...marks })
    return textOf(name)
  }
  return {
    environment,
    problems,
    /** What was read, in this order. */
    settings,
    /** The variable's text, for a rule that needs more than its setting's value. */
    textOf,
    text: <A extends string | null>(name: string, usual: A, description: string, marks?: Marks): string | A =>
      noted(name, "text", usual, description, marks) ?? usual,
    list: (name: string, description: string, marks?: Marks): ReadonlyArray<string> =>
      (noted(name, "list", null, description, marks) ?? "")
        .split(",")
        .map((one) => one.trim())
        .filter((one) => one !== ""),
    int: <A extends number | null>(
      name: string,
      usual: A,
      [min, max]: readonly [number, number],
      description: string,
      marks?: Marks
    ): number | A => {
      const value = noted(name, "number", usual, description, marks)
      if (value === undefined) return usual
      const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      problems.push(`${name} must be a whole number from ${min} to ${max}`)
      return usual
    },
    oneOf: <A extends string>(
      name: string,
      usual: A,
      values: ReadonlyArray<A>,
      description: string,
      marks?: Marks
    ): A => {
      const value = noted(name, "choice", usual, description, marks)
      const choice = value === undefined ? usual : values.find((one) => one === value)
      if (choice === undefined) problems.push(`${name} must be ${values.join(" or ")}`)
      return choice ?? usual
    },
    usd: (name: string, usual: string, least: "0" | "above 0", description: string): MicroUsd => {
      const amount = Schema.decodeOption(Usd)(noted(name, "usd", usual, description) ?? usual)
      if (Option.isSome(amount) && (amount.value > 0n || least === "0")) return amount.value
      problems.push(`${name} must be an amount in USD${least === "0" ? "" : " above 0"}, such as ${usual}`)
      return dollars(usual)
    },
    /** A plain decimal string above `above` or from `from`, so that no exponent and no sign gets into a price. */
    decimal: <A extends string | null>(
      name: string,
      usual: A,
      range: Range,
      description: string,
      marks?: Marks
    ): string | A => {
      const value = noted(name, "decimal", usual, description, marks)
      if (value === undefined) return usual
      const number = new RegExp(`^\\d{1,9}(\\.\\d{1,${range.decimals}})?$`).test(value) ? Number(value) : Number.NaN
      if (number > (range.above ?? -1) && number >= (range.from ?? 0) && number <= range.to) return value
      const least = range.above === undefined ? `from ${range.from ?? 0}` : `above ${range.above}`
      problems.push(`${name} must be a decimal number ${least} to ${range.to}, with at most ${range.decimals} decimals`)
      return usual
    },
    url: (name: string, protocols: ReadonlyArray<string>, description: string, marks?: Marks): string | null => {
      const value = noted(name, "address", null, description, marks)
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

export const secret = (text: string | null) => (text === null ? null : Redacted.make(text))
