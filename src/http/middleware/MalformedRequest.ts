/**
 * Answers requests that do not match the contract: `invalid_request` with the path and the message of every field that is wrong.
 *
 * For a body that is not JSON, the message has the line and column of the mistake. For an unknown field, it suggests the nearest valid name.
 */
import { Effect, type Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { newId } from "../../layers/platform/Ids.ts"
import { type Detail, problem, type Problem, type ProblemOf, statusOf } from "../../schema/Errors.ts"
import { type FieldProblem, fieldProblems, fieldSentence } from "../../schema/json/FieldProblems.ts"
import { jsonMistake } from "../../schema/json/JsonMistake.ts"
import { shownName } from "../../schema/json/StorableText.ts"
import { didYouMean } from "../../schema/suggestion.ts"
import { Malformed } from "../api/shapes/Common.ts"

const pathPrefixes: Readonly<Record<string, string>> = { Params: "path", Query: "query", Headers: "headers" }
const nouns: Readonly<Record<string, string>> = { Query: "query parameter" }

/** More than anybody reads. A hostile body has as many unknown fields as fit into it. */
const detailsMax = 20

/** A longer list of names is not read. */
const namesMax = 12

/** Where an unknown field belongs. The fields of a capability are often sent beside `input` in place of inside it. */
const suggested = (name: string, { names, place }: NonNullable<FieldProblem["unknown"]>): string => {
  const longer = names.filter((one) => one.startsWith(name))
  const [begun] = longer.length === 1 ? longer : []
  if (place !== null || begun !== undefined) return ` Did you mean \`${place ?? begun}\`?`
  const near = didYouMean(name, names)
  if (near !== "" || names.length === 0) return near
  return names.includes("input")
    ? " A field of the capability belongs inside `input`."
    : ` Valid here: ${names.slice(0, namesMax).join(", ")}${names.length > namesMax ? ", …" : ""}.`
}

const detailsOf = (kind: string, { issue }: Schema.SchemaError): ReadonlyArray<Detail> => {
  const prefix = pathPrefixes[kind]
  return fieldProblems(issue)
    .slice(0, detailsMax)
    .map(({ path: names, message, unknown }) => {
      const path = [...(prefix === undefined ? [] : [prefix]), ...names.map(shownName)].join(".")
      if (unknown === undefined) return { path, message }
      const name = names.at(-1) ?? ""
      return { path, message: `Unknown ${nouns[kind] ?? "field"} \`${shownName(name)}\`.${suggested(name, unknown)}` }
    })
}

const refused = (message: string, details: ReadonlyArray<Detail>) => problem("invalid_request", message, details)

/** The error for a body that is not JSON. Null if it is JSON. */
const notJson = (text: string): ProblemOf<"invalid_request"> | null => {
  if (text === "") return refused("The request body is empty. Send a JSON object.", [{ path: "", message: "is empty" }])
  const mistake = jsonMistake(text)
  if (mistake === null) return null
  const { line, column, expected } = mistake
  const message = `is not valid JSON at line ${line}, column ${column}: expected ${expected}`
  return refused(`The request body ${message}.`, [{ path: "", message }])
}

/** The error for a part of a request that does not match the contract. `kind` names the part. A parameter that comes twice is `repeated`. */
export const malformed = (
  kind: string,
  cause: Schema.SchemaError,
  repeated: ReadonlyArray<string> = []
): ProblemOf<"invalid_request"> => {
  const details = detailsOf(kind, cause).map((one) =>
    repeated.includes(one.path) && !one.message.startsWith("Unknown ") ? { ...one, message: "must be given once" } : one
  )
  const first = details[0]
  if (first === undefined) return refused("The request is not valid.", [])
  const isSentence = first.message.startsWith("Unknown ")
  const subject = first.path === "" ? "The request body" : first.path
  const message = isSentence ? first.message : fieldSentence(subject, first.message)
  return refused(message, details)
}

/** The same for a body, which may not be JSON at all. */
export const malformedBody = (text: string, cause: Schema.SchemaError): ProblemOf<"invalid_request"> => {
  const wrong = malformed("Payload", cause)
  return (wrong.error.details?.[0]?.path === "" ? notJson(text) : null) ?? wrong
}

const repeatedIn = (url: string): ReadonlyArray<string> => {
  const names = Map.groupBy(new URLSearchParams(url.split("?")[1] ?? "").keys(), (name) => name)
  return [...names].flatMap(([name, all]) => (all.length > 1 ? [`query.${shownName(name)}`] : []))
}

export const MalformedLayer = HttpApiMiddleware.layerSchemaErrorTransform(Malformed, ({ kind, cause }) => {
  if (kind === "Body" || kind === "ResponseHeaders") return Effect.die(cause)
  if (kind === "Query")
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
      Effect.fail(malformed(kind, cause, repeatedIn(url)))
    )
  if (kind !== "Payload") return Effect.fail(malformed(kind, cause))
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.flatMap(Effect.orDie(request.text), (text) => Effect.fail(malformedBody(text, cause)))
  )
})

const badPath = "is not valid percent-encoded UTF-8"
const refusedPath = refused(`path ${badPath}.`, [{ path: "path", message: badPath }])

const decodes = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const withoutId = problem(
  "not_found",
  "The id of what to delete is missing: the path ends with a slash. An id that is `.` is removed from an address before it is sent."
)

/** Outside of the routes, so it names its request itself. */
export const answerOf = (body: Problem, request_id: string = newId("req")): Response =>
  Response.json({ ...body, request_id }, { status: statusOf[body.error.code], headers: { "x-request-id": request_id } })

/**
 * Answers a request whose path is not valid percent-encoded UTF-8, because the router has no route for such a path and would answer
 * without a body. Also one that deletes and has an empty id: the router ignores a slash at the end, slashes beside each other, capitals, and
 * what follows a semicolon, and would delete all that the path lists. Null for any other path. Every request passes here, so only a path with
 * a percent sign is decoded.
 */
export const malformedPath = ({ method, url }: Request): Response | null => {
  // Not by a URL parser: a client may send any text as the host, and a parser throws.
  if (method === "DELETE" && /^[a-z]+:\/\/[^/]*\/+v1\/[^?;#]*\/($|[?;#])/i.test(url)) return answerOf(withoutId)
  if (!url.includes("%")) return null
  const path = url.split("?")[0] ?? ""
  return decodes(path) ? null : answerOf(refusedPath)
}
