/** A section of a configuration: how its objects are compared and written, from what is special about its kind of object. */
import { Effect, Schema } from "effect"
import type { ConfigurationChange, NewSecret } from "../../../schema/configuration/Configuration.ts"
import { type Existing, stepsOf } from "../../../schema/configuration/Diff.ts"
import type { ReplayRule } from "../../../schema/simulation/Replay.ts"
import { withoutNulls } from "../../../schema/defined.ts"
import { type Problem, problem, type ProblemOf, refused } from "../../../schema/Errors.ts"
import type { Configuration } from "../../api/Configuration.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"

type File = typeof Configuration.Type
type Refusal = ProblemOf<"invalid_request" | "forbidden">
type Write<A> = Effect.Effect<A, Refusal, CurrentCaller>

/** Shown once, in the answer. */
type Secret = Pick<typeof NewSecret.Type, "id" | "secret">

/** A rule that past runs are replayed against, or the name of one of which they tell nothing. */
export type Rules = ReadonlyArray<ReplayRule | string>

interface Struct {
  readonly fields: Readonly<Record<string, Schema.Constraint>>
}

interface Kind<A extends object, I extends object> {
  readonly section: keyof File
  readonly entry: Schema.Codec<A, I> & Struct
  /** The object in the API's answers. */
  readonly noun: Struct
  readonly entriesIn: (file: File) => ReadonlyArray<A> | null | undefined
  readonly list: (org_id: string) => Effect.Effect<ReadonlyArray<{ readonly id: string }>>
  readonly nameOf: (entry: A) => string
  /** The entry as the service would store it. */
  readonly stored?: (entry: A) => Effect.Effect<A, Refusal>
  readonly create: (entry: A) => Write<Secret | null>
  readonly change: (id: string, changed: Partial<A>, entry: A) => Write<unknown>
  readonly remove: (org_id: string, id: string) => Effect.Effect<unknown>
  /**
   * `entry` as it will be, and what of it is set or changed. `existing` is null for a new object. `names` are those of all objects of the
   * section, in the file and outside it.
   */
  readonly rules?: (
    of: { readonly entry: A; readonly changed: Partial<A>; readonly existing: Existing | null },
    names: ReadonlySet<string>
  ) => Rules
  readonly removed?: (existing: Existing) => Rules
}

interface Change {
  readonly view: ConfigurationChange
  readonly write: Write<Secret | null>
  readonly rules: Rules
}

/** A problem of a write, of the place in the file that it is about. */
const located =
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

/** Refuses objects that a file can't tell apart. */
export const checkUnique = Effect.fnUntraced(function* (
  section: string,
  existing: ReadonlyArray<Existing>,
  of: (name: string) => boolean = () => true
) {
  for (const [name, same] of Map.groupBy(existing, (one) => one.name))
    if (same.length > 1 && of(name))
      yield* refused(
        `configuration.${section}`,
        `can't tell ${same.length} of them apart by the name "${name}": ${same.map(({ id }) => id).join(", ")}. Rename or remove all but one`
      )
})

export const partOf = <A extends object, I extends object>({ section, entry: schema, noun, ...kind }: Kind<A, I>) => {
  const decode = Schema.decodeUnknownSync(schema, { onExcessProperty: "ignore" })
  const entryOf = (fields: object): A => decode(withoutNulls(fields))
  const encode = Schema.encodeSync(schema)
  // Null is a value of a field that may be null in an answer. In another one it equals leaving the field out.
  const isNullable = (name: string) =>
    [schema.fields[name], noun.fields[name]].every((field) => field !== undefined && Schema.is(field)(null))
  const nullable = new Set(Object.keys(schema.fields).filter(isNullable))
  /** `whole`: fields that are not there are null. */
  const fieldsOf = (entry: A, whole: boolean) => {
    const encoded = new Map<string, unknown>(Object.entries(encode(entry)))
    const names = Object.keys(schema.fields).filter(
      (name) => (encoded.get(name) ?? null) !== null || (nullable.has(name) && (whole || encoded.has(name)))
    )
    return Object.fromEntries(names.map((name) => [name, encoded.get(name) ?? null]))
  }

  const existing = (org_id: string) =>
    Effect.map(kind.list(org_id), (rows) =>
      rows.map((row): Existing => {
        const entry = entryOf(row)
        return { id: row.id, name: kind.nameOf(entry), fields: fieldsOf(entry, true) }
      })
    )

  const rules = (now: ReadonlyArray<Existing>): Rules => {
    const names = new Set(now.map(({ name }) => name))
    return now.flatMap((existing) => {
      const entry = entryOf(existing.fields)
      return kind.rules?.({ entry, changed: entry, existing }, names) ?? []
    })
  }

  const changes = Effect.fnUntraced(function* (file: File, before: ReadonlyArray<Existing>, prune: boolean) {
    const entries = kind.entriesIn(file) ?? null
    if (entries === null) return []
    const places = new Map<string, string>()
    const wanted = yield* Effect.forEach(
      entries,
      Effect.fnUntraced(function* (one, n) {
        const path = `configuration.${section}${section === "spend_guard" ? "" : `.${n}`}`
        const entry = yield* Effect.mapError(kind.stored?.(one) ?? Effect.succeed(one), located(path))
        const name = kind.nameOf(entry)
        const first = places.get(name)
        if (first !== undefined) return yield* refused(path, `is the same object as ${first}: ${name}`)
        places.set(name, path)
        return { name, path, entry, fields: fieldsOf(entry, false) }
      })
    )
    yield* checkUnique(section, before, (name) => prune || places.has(name))
    const names = new Set([...before.map(({ name }) => name), ...places.keys()])
    return stepsOf(before, wanted, prune).map(({ action, fields, ...step }): Change => {
      const view = { action, section, name: (step.wanted ?? step.existing).name, fields }
      if (step.wanted === null) {
        const { id } = step.existing
        const write = Effect.flatMap(CurrentCaller, ({ org_id }) => Effect.as(kind.remove(org_id, id), null))
        return { view, write, rules: kind.removed?.(step.existing) ?? [] }
      }
      const { existing } = step
      const { path, entry } = step.wanted
      const changed: Partial<A> = { ...entry }
      for (const field in changed) if (!step.names.has(field)) delete changed[field]
      const write = existing === null ? kind.create(entry) : Effect.as(kind.change(existing.id, changed, entry), null)
      const after = entryOf({ ...existing?.fields, ...step.wanted.fields })
      const rules = kind.rules?.({ entry: after, changed, existing }, names) ?? []
      return { view, write: Effect.mapError(write, located(path)), rules }
    })
  })
  return { section, existing, rules, changes }
}
