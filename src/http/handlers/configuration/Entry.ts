/** An object of a configuration: how it is compared, written and replayed, whatever its section. */
import { type Effect, Schema } from "effect"
import type { Existing, Fields, Section, Wanted } from "../../../schema/configuration/Diff.ts"
import type { ReplayRule } from "../../../schema/configuration/Replay.ts"
import { type Problem, problem, type ProblemOf } from "../../../schema/Errors.ts"
import type { Configuration } from "../../api/Configuration.ts"
import type { CurrentCaller } from "../../api/shapes/Common.ts"

export type Refusal = ProblemOf<"invalid_request" | "forbidden">
type Write<A> = Effect.Effect<A, Refusal, CurrentCaller>
type Names = ReadonlySet<string>

/** Shown once, in the answer. */
interface Secret {
  readonly id: string
  readonly secret: string
}

/** What changed rules say about past runs. */
export interface Rules {
  readonly rules: ReadonlyArray<ReplayRule>
  /** Names of rules of which past runs tell nothing. */
  readonly unknown: ReadonlyArray<string>
}
export const noRules: Rules = { rules: [], unknown: [] }

export interface Entry extends Wanted {
  /** Dotted. */
  readonly path: string
  readonly create: Write<Secret | null>
  readonly change: (existing: Existing, names: Names) => Write<void>
  /** `existing` is null for a new object. */
  readonly rules: (existing: Existing | null, names: Names) => Rules
}

export interface Part {
  readonly section: Section
  readonly existing: (org_id: string) => Effect.Effect<ReadonlyArray<Existing>>
  /** Null if the file has no such section. */
  readonly entries: (
    configuration: typeof Configuration.Type,
    existing: ReadonlyArray<Existing>
  ) => Effect.Effect<ReadonlyArray<Entry> | null, Refusal>
  readonly remove: (existing: Existing) => Write<void>
  readonly removed: (existing: Existing) => Rules
}

/** A problem of a write, of the place in the file that it is about. */
export const located =
  (path: string) =>
  ({ error: { code, message, details = [] } }: Problem<"invalid_request"> | Problem<"forbidden">): Refusal => {
    const [first] = details
    const about = first !== undefined && first.path !== "" && message.startsWith(first.path) ? "." : ": "
    const faults = details.map((one) =>
      one.http === undefined ? { ...one, path: one.path === "" ? path : `${path}.${one.path}` } : one
    )
    const whole = faults.length === 0 ? [{ path, message }] : faults
    return code === "forbidden"
      ? problem("forbidden", `${path}${about}${message}`, whole)
      : problem("invalid_request", `${path}${about}${message}`, whole)
  }

/** The fields that a section's entries have, of an object as the API shows it. */
export const fieldsOf = <A, I extends object>(schema: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownSync(schema, { onExcessProperty: "ignore" })
  const encode = Schema.encodeSync(schema)
  return (shown: unknown): Fields => Object.fromEntries(Object.entries(encode(decode(shown))))
}

/** Those of the entry's fields that change. */
export const changedOf = <A extends object>(entry: A, names: Names): Partial<A> => {
  const changed: Partial<A> = { ...entry }
  for (const name in changed) if (!names.has(name)) delete changed[name]
  return changed
}
