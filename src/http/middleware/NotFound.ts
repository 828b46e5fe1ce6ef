/** Answers requests that no route matches: 405 with `Allow` if the path has other methods, otherwise 404. */
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi } from "effect/http-api"
import { problem, type Problem, statusOf } from "../../schema/Errors.ts"
import { Api } from "../api/Api.ts"
import { cancelPath, successPath, webhookPath } from "./Paths.ts"

interface Known {
  readonly method: string
  readonly pattern: RegExp
}

const known: Array<Known> = []
const add = (method: string, path: string) =>
  known.push({
    method,
    pattern: new RegExp(`^${path.replaceAll(".", "\\.").replace(/:([a-z_]+)/g, "(?<$1>[^/]+)")}/?$`)
  })

HttpApi.reflect(Api, { onGroup: () => {}, onEndpoint: ({ endpoint }) => add(endpoint.method, endpoint.path) })
const pages = [
  "/",
  "/livez",
  "/healthz",
  "/readyz",
  "/metrics",
  "/openapi.json",
  "/docs",
  "/join/:code",
  successPath,
  cancelPath
]
for (const path of pages) add("GET", path)
add("POST", webhookPath)

/** The parameters of a known path, still percent-encoded; none for any other path. */
export const parametersOf = (path: string): Readonly<Record<string, string>> =>
  known.map(({ pattern }) => pattern.exec(path)?.groups).find((groups) => groups !== undefined) ?? {}

const answer = (body: Problem, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status: statusOf[body.error.code], headers })

/** The boundary gives it, so that the router still answers HEAD with the route of GET. A route for all methods would take it first. */
export const notFound = (request: HttpServerRequest.HttpServerRequest): HttpServerResponse.HttpServerResponse => {
  const path = request.url.split("?")[0] ?? ""
  const methods = known.flatMap((one) => (one.pattern.test(path) ? [one.method] : []))
  const takesGet = methods.includes("GET")
  // A part that is too long for the router leaves a known path without a route.
  if (methods.length === 0 || methods.includes(request.method) || (request.method === "HEAD" && takesGet))
    return answer(problem("not_found", "There is no such path; see /docs for what there is."))
  const allow = [...methods, ...(takesGet ? ["HEAD"] : [])].join(", ")
  return answer(problem("method_not_allowed", `This path does not take ${request.method}; it takes ${allow}.`), {
    allow
  })
}
