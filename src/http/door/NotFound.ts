/** What answers when no route does: 405 with `Allow` when the path exists under other methods, else 404. */
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
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

export const NotFound = HttpRouter.add("*", "/*", (request) => {
  const path = request.url.split("?")[0] ?? ""
  const methods = known.flatMap((one) => (one.pattern.test(path) ? [one.method] : []))
  // A part that is too long for the router leaves a known path without a route.
  if (methods.length === 0 || methods.includes(request.method))
    return Effect.succeed(answer(problem("not_found", "There is no such path; see /docs for what there is.")))
  const allow = methods.join(", ")
  return Effect.succeed(
    answer(problem("method_not_allowed", `This path does not take ${request.method}; it takes ${allow}.`), { allow })
  )
})
