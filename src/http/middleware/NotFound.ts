/** Answers requests that no route matches: 405 with `Allow` if the path has other methods, otherwise 404. */
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi } from "effect/http-api"
import { problem } from "../../schema/Errors.ts"
import { nearest } from "../../schema/nearest.ts"
import { keysPath } from "../../schema/receipts/PublicKeys.ts"
import { Api } from "../api/Api.ts"
import { problemAnswer, problemsPath } from "../standards/ProblemType.ts"
import { cancelPath, providerEventsPath, statusPath, successPath, webhookPath } from "./Paths.ts"

interface Route {
  readonly method: string
  /** With the names of its parameters, such as `/v1/runs/:run_id`. */
  readonly path: string
  readonly pattern: RegExp
}

const routes: Array<Route> = []
const add = (method: string, path: string) =>
  routes.push({
    method,
    path,
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
  "/docs/api",
  "/join/:code",
  statusPath,
  problemsPath,
  `${problemsPath}/:code`,
  successPath,
  cancelPath,
  keysPath
]
for (const path of pages) add("GET", path)
add("POST", webhookPath)
add("POST", providerEventsPath)

/** The paths of all routes of the router. */
export const routePaths = (): ReadonlyArray<string> => routes.map(({ path }) => path)

/** Whether a route has this path, with any method. */
export const isRoutePath = (path: string): boolean => routes.some(({ pattern }) => pattern.test(path))

/** The parameters in a path of the API, still percent-encoded. Empty for any other path. */
export const parametersOf = (path: string): Readonly<Record<string, string>> =>
  routes.map(({ pattern }) => pattern.exec(path)?.groups).find((groups) => groups !== undefined) ?? {}

const isApi = ({ path }: Route) => path.startsWith("/v1/") && !path.startsWith("/v1/operator/")
const shown = ({ method, path }: Route) => `${method} ${path.replace(/:([a-z_]+)/g, "{$1}")}`
// Each looks behind, so that it begins once in a long path.
const noun = /(?<![^/])[^/]+$/
const slashesAtEnd = /(?<!\/)\/+$/

/**
 * The operation that a wrong path or method most likely means: the same path below /v1, one with few other letters, or one that ends with the
 * same noun. Of several, one with the same method, and then the shortest.
 */
const meantBy = (method: string, path: string): string => {
  const below = `/v1/${path.replace(/^(\/?api)?(\/v\d)*\/+/, "").replace(slashesAtEnd, "")}`
  const operations = routes
    .filter((one) => isApi(one) && !one.pattern.test(path))
    .sort((a, b) => Number(b.method === method) - Number(a.method === method) || a.path.length - b.path.length)
  const near = nearest(
    below,
    operations.map((one) => one.path)
  )
  const [word = ""] = noun.exec(below) ?? []
  const meant =
    operations.find(({ pattern }) => pattern.test(below)) ??
    operations.find((one) => one.path === near) ??
    operations.find((one) => word.length > 3 && one.path.endsWith(word))
  return meant === undefined ? "" : ` Did you mean ${shown(meant)}?`
}

/** The boundary calls it. A catch-all route instead would also take HEAD requests, which the router answers with the route of GET. */
export const notFound = (request: HttpServerRequest.HttpServerRequest): HttpServerResponse.HttpServerResponse => {
  const path = request.url.split("?")[0] ?? ""
  const methods = [...new Set(routes.flatMap((one) => (one.pattern.test(path) ? [one.method] : [])))]
  const acceptsGet = methods.includes("GET")
  // The router also refuses an existing path with a parameter that is too long.
  if (methods.length === 0 || methods.includes(request.method) || (request.method === "HEAD" && acceptsGet))
    return problemAnswer(
      problem("not_found", `This path does not exist.${meantBy(request.method, path)} GET /docs/api lists the paths.`)
    )
  const allow = [...methods, ...(acceptsGet ? ["HEAD"] : [])].join(", ")
  const sentence = `This path does not accept ${request.method}. It accepts ${allow}.${meantBy(request.method, path)}`
  return problemAnswer(problem("method_not_allowed", sentence), { allow })
}
