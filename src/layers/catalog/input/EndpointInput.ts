/**
 * Validates a raw request against its endpoint's schemas, before money is held or a request is sent.
 *
 * The schemas come from third parties. A check takes linear time per pattern, reports a limited number of issues, and never
 * throws. A schema that can't be compiled accepts everything; the provider then validates the request.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { type Issue, issueOf, withoutBranches } from "../../../schema/catalog/Contract.ts"
import { reachable } from "../../../schema/catalog/Definitions.ts"
import type { Endpoint, ProviderDocument } from "../../../schema/catalog/Endpoint.ts"
import { undescribedCounts } from "./UndescribedCounts.ts"
import { linearPatterns } from "./LinearPatterns.ts"

/** Task objects in one request. */
export const tasksMax = 10
/** Values nested deeper than any real request would exhaust the stack of a recursive schema. */
const depthMax = 100
/** Larger requests are checked only up to the first issue, because a long list of wrong items has as many issues. */
const thoroughValuesMax = 2_000
/** Issues in one response. */
const issuesMax = 20

/** JSON with sorted names: equal values have equal texts. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, child: unknown) =>
    typeof child === "object" && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child
  )

/** An Ajv for schemas of third parties. */
export const foreignAjv = (options: { readonly allErrors: boolean; readonly validateSchema: boolean }): Ajv2020 => {
  const ajv = new Ajv2020({
    ...options,
    // `issueOf` needs the schema and the value around an unknown field.
    verbose: true,
    strict: false,
    ownProperties: true,
    addUsedSchema: false,
    logger: false,
    // Optimizing the generated code takes longer than running it, because most schemas are used rarely.
    code: { regExp: linearPatterns, optimize: false }
  })
  addFormats(ajv, ["email", "uri", "hostname", "date", "date-time", "uuid", "ipv4", "ipv6"])
  // Ajv compares every item with every other: a megabyte of small objects would take minutes.
  ajv.removeKeyword("uniqueItems")
  return ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    errors: false,
    validate: (unique: boolean, items: ReadonlyArray<unknown>) =>
      !unique || new Set(items.map(canonical)).size === items.length,
    error: { message: "must not have duplicate items" }
  })
}

const thorough = foreignAjv({ allErrors: true, validateSchema: true })
const quick = foreignAjv({ allErrors: false, validateSchema: true })

const compile = (ajv: Ajv2020, schema: object): ValidateFunction | null => {
  try {
    return ajv.compile(schema)
  } catch {
    return null
  } finally {
    // Ajv would keep the schema for ever. The caller keeps the compiled function.
    ajv.removeSchema(schema)
  }
}

/** The number of values in it; null when it is nested too deeply. */
const countValues = (value: unknown): number | null => {
  const open: Array<readonly [value: unknown, depth: number]> = [[value, 0]]
  let count = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [current, depth] = next
    count++
    if (typeof current !== "object" || current === null) continue
    if (depth >= depthMax) return null
    for (const child of Object.values(current)) open.push([child, depth + 1])
  }
  return count
}

const issuesOf = (validate: ValidateFunction): ReadonlyArray<Issue> => {
  const errors = withoutBranches(validate.errors ?? [])
  // Every wrong nullable field also reports "must be null", which does not help.
  const helpful = errors.filter((error) => !(error.keyword === "type" && error.params["type"] === "null"))
  const issues = new Map<string, Issue>()
  for (const error of helpful.length === 0 ? errors : helpful) {
    const issue = issueOf(error)
    issues.set(`${issue.path}\n${issue.message}`, issue)
    if (issues.size === issuesMax) break
  }
  return [...issues.values()]
}

type Check = (value: unknown) => ReadonlyArray<Issue>

const check = (schema: Readonly<Record<string, unknown>>, definitions: ProviderDocument["definitions"]): Check => {
  const compiled = new Map<Ajv2020, ValidateFunction | null>()
  const validatorOf = (ajv: Ajv2020): ValidateFunction | null => {
    const before = compiled.get(ajv)
    if (before !== undefined) return before
    const validate = compile(ajv, { ...schema, $defs: reachable(definitions, [schema]) })
    compiled.set(ajv, validate)
    return validate
  }
  return (value) => {
    const count = countValues(value)
    if (count === null) return [{ path: "", message: `must not be nested deeper than ${depthMax} levels` }]
    const validate = validatorOf(count > thoroughValuesMax ? quick : thorough)
    if (validate === null) return []
    try {
      return validate(value) ? [] : issuesOf(validate)
    } catch {
      return [{ path: "", message: "is nested too deeply" }]
    }
  }
}

export interface EndpointInput {
  readonly path: Check
  readonly query: Check
  /** Accepts anything when the endpoint has no body or an undocumented one. */
  readonly input: Check
}

const within = (index: number, issue: Issue): Issue => ({
  path: issue.path === "" ? String(index) : `${index}.${issue.path}`,
  message: issue.message
})

/**
 * Prepares checks of an endpoint's requests. Each schema is compiled at its first use. A missing part of the request counts as
 * an empty object. For `task` endpoints the input is one task object or an array of up to ten.
 */
export const compileEndpoint = (
  endpoint: Pick<Endpoint, "body_type" | "path_params" | "query_params" | "body"> & Partial<Pick<Endpoint, "cost">>,
  definitions: ProviderDocument["definitions"]
): EndpointInput => {
  const path = check(endpoint.path_params, definitions)
  const query = check(endpoint.query_params, definitions)
  const body: Check = endpoint.body === null ? () => [] : check(endpoint.body, definitions)
  const tasks: Check = (value) => {
    if (!Array.isArray(value)) return body(value)
    if (value.length === 0 || value.length > tasksMax) {
      return [{ path: "", message: `must be one task object or an array of 1 to ${tasksMax}` }]
    }
    return value.flatMap((task, index) => body(task).map((issue) => within(index, issue))).slice(0, issuesMax)
  }
  const input = endpoint.body_type === "task" && endpoint.body !== null ? tasks : body
  const isFree = endpoint.cost === undefined || endpoint.cost.model === "free" || endpoint.body_type === "actor_input"
  const counts = endpoint.body === null || isFree ? () => [] : undescribedCounts(endpoint.body, definitions, issuesMax)
  return {
    path: (value) => path(value ?? {}),
    query: (value) => query(value ?? {}),
    input: (value) => {
      const issues = input(value === undefined ? {} : value)
      return issues.length > 0 ? issues : counts(value)
    }
  }
}
