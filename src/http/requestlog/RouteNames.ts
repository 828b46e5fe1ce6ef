/**
 * The name of a request's route, for metrics, log lines and spans: its path with the names of the parameters, such as `/v1/runs/{run_id}`.
 *
 * A path itself may hold an id or personal data and has no place there. The names are found as the router finds routes.
 */
import { FindMyWay } from "effect/http"
import { mcpPath } from "../middleware/Paths.ts"
import { routePaths } from "../middleware/NotFound.ts"

const names = FindMyWay.make<string>()
for (const path of new Set([...routePaths(), mcpPath]))
  names.all(`/${path.slice(1)}`, path.replace(/:([a-z_]+)/g, "{$1}"))

/** The name of the route of a URL. Null for a path that is not the API's, such as a page of the console. */
export const routeOf = (url: string): string | null => names.find("GET", url)?.handler ?? null

/** Paths without a name: of a page that was shown, and of anything that does not exist. */
export const nameless = (status: number): string => (status < 400 ? "page" : "unmatched")
