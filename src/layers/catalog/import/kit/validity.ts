/**
 * Checks that an endpoint's schemas compile and accept its example.
 */
import type { ValidateFunction } from "ajv/dist/2020.js"
import { type Endpoint, endpointKey, type ProviderDocument } from "../../../../schema/catalog/Endpoint.ts"
import { reachable } from "../../../../schema/catalog/Definitions.ts"
import { foreignAjv } from "../../input/EndpointInput.ts"

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const ajv = foreignAjv({ allErrors: true, validateSchema: true })

/** Compiles a schema and removes it from Ajv, which would keep every schema for ever. */
export const compiled = (schema: object): ValidateFunction => {
  try {
    return ajv.compile(schema)
  } finally {
    ajv.removeSchema(schema)
  }
}

/** One sentence per mistake; empty when there is none. */
export const endpointIssues = (
  endpoint: Endpoint,
  definitions: ProviderDocument["definitions"]
): ReadonlyArray<string> => {
  const check = (part: "path" | "query" | "input", schema: Endpoint["body"], value: unknown): ReadonlyArray<string> => {
    if (schema === null) return value === undefined ? [] : [`example.${part}: there is no such part`]
    try {
      const validate = compiled({ ...schema, $defs: reachable(definitions, [schema]) })
      if (value === undefined && part === "input") return []
      if (validate(value ?? {})) return []
      return (validate.errors ?? []).map(
        ({ instancePath, message = "is not valid" }) =>
          `example.${part}${instancePath.replaceAll("/", ".")}: ${message}`
      )
    } catch (error) {
      return [`${part}: ${reasonOf(error)}`]
    }
  }
  const { example } = endpoint
  return [
    ...check("path", endpoint.path_params, example.path),
    ...check("query", endpoint.query_params, example.query),
    ...check("input", endpoint.body, example.input)
  ].map((issue) => `${endpointKey(endpoint)}: ${issue}`)
}
