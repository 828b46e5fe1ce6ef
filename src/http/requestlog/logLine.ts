/**
 * The log line of a request, as one JSON object.
 *
 * It has ids, the name of the route and numbers. Paths, queries, headers, bodies and addresses have no place in it, because they can hold
 * secrets and personal data. Built by hand, because every request has one: none of its texts needs escaping.
 */
import { looksLike } from "../../schema/Ids.ts"

export interface LoggedRequest {
  /** Milliseconds since 1970. */
  readonly ended: number
  readonly request_id: string | null
  readonly org_id: string | null
  readonly method: string
  /** The path with the names of its parameters. */
  readonly route: string
  readonly status: number
  readonly seconds: number
  readonly run_id: string | null
}

/** Ids that this service has made consist of letters, digits and one underscore. */
const id = /^[a-z]+_[0-9a-z]+$/
const field = (name: string, value: string | null) => (value === null || !id.test(value) ? "" : `,"${name}":"${value}"`)

export const logLine = ({ ended, method, route, status, seconds, ...ids }: LoggedRequest): string =>
  `{"time":"${new Date(ended).toISOString()}","level":"${status >= 500 ? "error" : "info"}","message":"request"${field("request_id", ids.request_id)}${field("org_id", ids.org_id)},"method":"${method}","route":"${route}","status":${status},"duration_ms":${Math.round(seconds * 10_000) / 10}${field("run_id", ids.run_id)}}\n`

const runInPath = /\/v1\/runs\/(run_[0-9a-z]+)(?:[/?]|$)/

/** The id of the run that a request is about, if its path has one. Any other text in its place is the caller's own. */
export const runIdIn = (url: string): string | null => {
  const run_id = runInPath.exec(url)?.[1]
  return run_id !== undefined && looksLike("run", run_id) ? run_id : null
}
