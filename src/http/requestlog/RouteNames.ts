/**
 * The name of a request's route, for metrics, log lines and spans: its path with the names of the parameters, such as `/v1/runs/{run_id}`.
 *
 * A path itself may hold an id or personal data and has no place there. The names are looked up segment by segment in a tree, because every
 * request is looked up.
 */
import { mcpPath } from "../middleware/Paths.ts"
import { routePaths } from "../middleware/NotFound.ts"

interface Branch {
  readonly fixed: Map<string, Branch>
  parameter: Branch | null
  name: string | null
}
const branch = (): Branch => ({ fixed: new Map(), parameter: null, name: null })

const root = branch()
for (const path of [...routePaths(), mcpPath]) {
  let at = root
  for (const segment of path.split("/").slice(1)) {
    if (segment.startsWith(":")) {
      at.parameter ??= branch()
      at = at.parameter
    } else {
      const next = at.fixed.get(segment) ?? branch()
      at.fixed.set(segment, next)
      at = next
    }
  }
  at.name = path.replace(/:([a-z_]+)/g, "{$1}")
}

/** The name of the route of a URL. Null for a path that is not the API's, such as a page of the console. */
export const routeOf = (url: string): string | null => {
  let start = url.indexOf("/", url.indexOf("//") + 2)
  if (start < 0) return root.fixed.get("")?.name ?? null
  const query = url.indexOf("?", start)
  const end = query < 0 ? url.length : query
  let at = root
  while (start < end) {
    const slash = url.indexOf("/", start + 1)
    const stop = slash < 0 || slash > end ? end : slash
    const segment = url.slice(start + 1, stop)
    // A path may end with a slash.
    if (segment === "" && stop === end && at !== root) break
    const next = at.fixed.get(segment) ?? (segment === "" ? null : at.parameter)
    if (next === null) return null
    at = next
    start = stop
  }
  return at.name
}

/** Paths without a name: of a page that was shown, and of anything that does not exist. */
export const nameless = (status: number): string => (status < 400 ? "page" : "unmatched")
