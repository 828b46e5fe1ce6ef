/**
 * Breaks reference cycles that never enter the value, such as `A = {allOf: [A]}`, and bounds what is looked at for one value.
 *
 * A cycle through a property or an item is valid, because every value ends. In a cycle of references alone, the last reference is dropped
 * with a warning. Without a cycle each definition may still have two alternatives that are the next one, so a value would be compared with
 * 2^30 schemas: a definition of too many is left open, with a warning.
 */
import { isJsonObject, type Json, type JsonObject } from "../kit/json.ts"
import type { Warnings } from "../kit/warnings.ts"

const prefix = "#/$defs/"
/** Schemas that one value is compared with. Those that we know have some hundred. */
const schemasMax = 10_000
/** Keywords whose schemas look at the very same value. */
const one = new Set(["not", "if", "then", "else"])
const several = new Set(["allOf", "anyOf", "oneOf"])

const inPlace = (schema: Json): ReadonlyArray<Json> => {
  if (!isJsonObject(schema)) return []
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (one.has(keyword)) return [value]
    if (several.has(keyword) && Array.isArray(value)) return value
    return keyword === "dependentSchemas" && isJsonObject(value) ? Object.values(value) : []
  })
}

const targets = (schema: Json, names: Set<string> = new Set()): ReadonlySet<string> => {
  if (!isJsonObject(schema)) return names
  const ref = schema["$ref"]
  if (typeof ref === "string") names.add(ref.slice(prefix.length))
  for (const child of inPlace(schema)) targets(child, names)
  return names
}

/** The schemas that one value is compared with, by those of the definitions that it refers to. */
const weightOf = (schema: Json, weights: ReadonlyMap<string, number>): number => {
  if (!isJsonObject(schema)) return 1
  const ref = schema["$ref"]
  const referred = typeof ref === "string" ? (weights.get(ref.slice(prefix.length)) ?? 0) : 0
  return inPlace(schema).reduce((sum: number, child) => sum + weightOf(child, weights), 1 + referred)
}

/** The same schema without references to these definitions where they look at the same value. */
const without = (schema: Json, names: ReadonlySet<string>): Json => {
  if (!isJsonObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): Array<[string, Json]> => {
      if (keyword === "$ref" && typeof value === "string" && names.has(value.slice(prefix.length))) return []
      if (one.has(keyword)) return [[keyword, without(value, names)]]
      if (several.has(keyword) && Array.isArray(value)) return [[keyword, value.map((item) => without(item, names))]]
      if (keyword !== "dependentSchemas" || !isJsonObject(value)) return [[keyword, value]]
      const entries = Object.entries(value).map(([name, item]) => [name, without(item, names)] as const)
      return [[keyword, Object.fromEntries(entries)]]
    })
  )
}

export const breakCircles = (
  definitions: ReadonlyMap<string, JsonObject>,
  warnings: Warnings
): ReadonlyMap<string, JsonObject> => {
  const done = new Set<string>()
  const cuts = new Map<string, Set<string>>()
  const weights = new Map<string, number>()
  const heavy = new Set<string>()
  for (const start of definitions.keys()) {
    if (done.has(start)) continue
    // Depth first without recursion: a chain of references may be as long as the document.
    const open = new Set<string>([start])
    const stack = [{ name: start, rest: [...targets(definitions.get(start) ?? {})] }]
    for (let top = stack[stack.length - 1]; top !== undefined; top = stack[stack.length - 1]) {
      const next = top.rest.pop()
      if (next === undefined) {
        open.delete(top.name)
        done.add(top.name)
        stack.pop()
        const weight = weightOf(definitions.get(top.name) ?? {}, weights)
        weights.set(top.name, weight > schemasMax ? 1 : weight)
        if (weight <= schemasMax) continue
        heavy.add(top.name)
        warnings.add(`#/$defs/${top.name}`, `compares a value with more than ${schemasMax} schemas and is left open`)
      } else if (open.has(next)) {
        cuts.set(top.name, (cuts.get(top.name) ?? new Set()).add(next))
        warnings.add(`#/$defs/${top.name}`, `refers to ${next} in a circle that never ends; the reference is left out`)
      } else if (!done.has(next)) {
        open.add(next)
        stack.push({ name: next, rest: [...targets(definitions.get(next) ?? {})] })
      }
    }
  }
  return new Map(
    [...definitions].map(([name, schema]) => {
      if (heavy.has(name)) return [name, {}]
      const names = cuts.get(name)
      const cut = names === undefined ? schema : without(schema, names)
      return [name, isJsonObject(cut) ? cut : schema]
    })
  )
}
