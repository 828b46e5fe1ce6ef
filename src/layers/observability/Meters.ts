/**
 * What this process counts and times, for /metrics. Labels are names of the catalog, of routes and of outcomes: bounded, and never what a
 * caller wrote.
 *
 * Numbers of the whole service, such as open runs, are read from the database at each scrape instead (ledger/Stats.ts).
 */
import { counter, histogram } from "./series.ts"

/** Seconds of work that calls providers. */
const slowSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
/** Seconds of work that waits for the database at most. A request may also wait for its run, up to 120 s. */
const fastSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120]
const turnCommands = [1, 2, 5, 10, 20, 50, 100, 200, 500]

const runs = counter("rungate_runs_total", "Runs that ended in turns of this process, by capability and status.", [
  "capability",
  "status"
])
const runSeconds = histogram(
  "rungate_run_duration_seconds",
  "Seconds from the request of a run to its end, by capability.",
  slowSeconds,
  ["capability"]
)
const attempts = counter("rungate_provider_attempts_total", "Calls of providers by this process, by outcome.", [
  "provider",
  "outcome"
])
const attemptSeconds = histogram(
  "rungate_provider_duration_seconds",
  "Seconds that a provider took for an attempt of a run.",
  slowSeconds,
  ["provider"]
)
const turnSizes = histogram("rungate_turn_commands", "Commands that one turn applied.", turnCommands)
const turnSeconds = histogram(
  "rungate_turn_duration_seconds",
  "Seconds of one turn that applied commands.",
  fastSeconds
)
const requests = counter("rungate_http_requests_total", "Requests that this process answered.", [
  "method",
  "route",
  "status"
])
const requestSeconds = histogram(
  "rungate_http_request_duration_seconds",
  "Seconds from a request to the head of its answer, by route. A request may wait for its run.",
  fastSeconds,
  ["route"]
)

/** A raw run's capability in labels: endpoints are many, and some contain what a caller chose. */
const raw = "raw"

/** A run has ended. `seconds` since its request, or null if that is unknown. */
export const countRun = (capability: string | null, status: string, seconds: number | null): void => {
  runs(1, { capability: capability ?? raw, status })
  if (seconds !== null) runSeconds(seconds, { capability: capability ?? raw })
}

/** A provider has answered, or has failed to. `outcome` is that of the attempt (schema/runs/Run.ts). */
export const countAttempt = (provider: string, outcome: string, seconds: number): void => {
  attempts(1, { provider, outcome })
  attemptSeconds(seconds, { provider })
}

export const countTurn = (commands: number, seconds: number): void => {
  turnSizes(commands, {})
  turnSeconds(seconds, {})
}

/** `route` is a path of the API with the names of its parameters, never with their values. */
export const countRequest = (method: string, route: string, status: number, seconds: number): void => {
  requests(1, { method, route, status: String(status) })
  requestSeconds(seconds, { route })
}
