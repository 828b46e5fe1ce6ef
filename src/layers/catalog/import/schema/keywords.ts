/**
 * The keywords of JSON Schema 2020-12 that an import keeps, by the type of their value, and the check of each value.
 *
 * Other keywords are dropped, so a compiled schema contains nothing unchecked.
 */
import { type LinearPattern, linearPattern, patternCharactersMax } from "../../input/LinearPatterns.ts"
import { type Json, toJson } from "../kit/json.ts"
import { plainText } from "../kit/text.ts"

export const types: ReadonlySet<unknown> = new Set([
  ...["string", "number", "integer", "boolean", "object", "array", "null"]
])

/** One schema, or true, or false. */
export const single: ReadonlySet<string> = new Set([
  ...["not", "if", "then", "else", "contains", "propertyNames", "items"],
  ...["additionalProperties", "unevaluatedProperties", "unevaluatedItems"]
])
export const lists: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"])
export const maps: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"])

const counts = new Set([
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"]
])
const numbers = new Set(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"])
const texts = new Set(["title", "description"])
const words = new Set(["format", "contentEncoding", "contentMediaType"])
const flags = new Set(["uniqueItems", "deprecated"])
const data = new Set(["default", "const"])

/** Means nothing to a request, or is read elsewhere. */
const silent = new Set([
  ...["example", "examples", "xml", "discriminator", "externalDocs", "readOnly", "writeOnly", "nullable", "$ref"],
  ...["$comment", "$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions", "collectionFormat"],
  ...["allowEmptyValue", "type", "required", "additionalItems", "contentSchema", "$vocabulary"]
])

const formatCharactersMax = 60
const enumMax = 5_000

export type Reading = { readonly value: Json } | { readonly wrong: string } | null

const value = (json: Json | undefined): Reading => (json === undefined ? { wrong: "is not JSON" } : { value: json })

export const isSilent = (keyword: string): boolean => silent.has(keyword) || keyword.startsWith("x-")

const strings = (given: unknown): ReadonlyArray<string> | null =>
  Array.isArray(given) && given.every((item): item is string => typeof item === "string") ? given : null

/** A keyword that holds no schema; null when it is none of these. */
export const readPlain = (keyword: string, given: unknown): Reading => {
  if (texts.has(keyword)) {
    const text = plainText(given)
    return text === "" ? null : { value: text }
  }
  if (words.has(keyword)) {
    return typeof given === "string" && given.length <= formatCharactersMax
      ? value(toJson(given))
      : { wrong: "is no word" }
  }
  if (flags.has(keyword)) return typeof given === "boolean" ? { value: given } : { wrong: "is neither true nor false" }
  if (counts.has(keyword)) {
    return typeof given === "number" && Number.isSafeInteger(given) && given >= 0
      ? { value: given }
      : { wrong: "is no whole number" }
  }
  if (numbers.has(keyword)) {
    if (typeof given !== "number" || !Number.isFinite(given)) return { wrong: "is no number" }
    return keyword === "multipleOf" && given <= 0 ? { wrong: "is not above 0" } : { value: given }
  }
  if (data.has(keyword)) return value(toJson(given))
  if (keyword === "enum") {
    if (!Array.isArray(given) || given.length === 0) return { wrong: "lists no values" }
    return given.length > enumMax ? { wrong: `lists more than ${enumMax} values` } : value(toJson(given))
  }
  if (keyword === "dependentRequired") {
    if (typeof given !== "object" || given === null || Array.isArray(given)) return { wrong: "is no object" }
    const entries = Object.entries(given).flatMap(([name, names]) => {
      const list = strings(names)
      return list === null || name === "__proto__" ? [] : [[name, [...new Set(list)]] as const]
    })
    return value(toJson(Object.fromEntries(entries)))
  }
  return { wrong: "is no keyword of JSON Schema" }
}

/** Compiled patterns of one import: documents repeat theirs thousands of times. */
export type Patterns = Map<string, LinearPattern | null>

/** What is wrong with a pattern, or null. */
export const patternProblem = (patterns: Patterns, pattern: unknown): string | null => {
  if (typeof pattern !== "string") return "is no text"
  if (pattern.length > patternCharactersMax) return `is longer than ${patternCharactersMax} characters`
  const compiled = patterns.get(pattern) ?? (patterns.has(pattern) ? null : linearPattern(pattern))
  patterns.set(pattern, compiled)
  return compiled === null ? "can't be matched in linear time (RE2), or is no pattern" : null
}
