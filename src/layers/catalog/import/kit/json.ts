/**
 * Reads fields of values of unknown shape. A field of the wrong type reads as missing.
 */
import { isRecord } from "../../../../schema/json/Json.ts"
import type { Schema } from "effect"

export type Json = Schema.Json
export type JsonObject = Schema.JsonObject

/** Examples, defaults and enumerations nested deeper than this are left out. */
const depthMax = 32

export { isRecord }

export const isJsonObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** An own field, because a document may name a field `constructor`. */
export const field = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined

export const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null)

/** Setting a field of this name would change the object's prototype. */
export const unsafeName = (name: string): boolean => name === "__proto__"

/** A copy as JSON; undefined for values that JSON lacks, such as YAML's `.nan`. */
export const toJson = (value: unknown, depth = 0): Json | undefined => {
  if (value === null || typeof value === "boolean") return value
  if (typeof value === "string") return value.toWellFormed()
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined
  if (typeof value !== "object" || depth >= depthMax) return undefined
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const child = toJson(item, depth + 1)
      return child === undefined ? [] : [child]
    })
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const child = unsafeName(key) ? undefined : toJson(item, depth + 1)
      return child === undefined ? [] : [[key.toWellFormed(), child]]
    })
  )
}
