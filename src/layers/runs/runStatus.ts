/**
 * SQL of a run's status, from `r` (runs) and `o` (its row of open_runs while it is open).
 *
 * A run whose provider was called is running, also while it waits in the queue for another try: after its worker died, or when the next provider
 * is busy. So it can't be cancelled any more.
 */
export const runStatus =
  "CASE WHEN o.state = 'queued' AND json_array_length(o.attempts) > 0 THEN 'running' ELSE coalesce(o.state, r.status) END"

/**
 * SQL of the provider that served a run: it delivered the result, or it answered that there is none. Null for every other run, whatever the
 * plan was and whoever was called. The column has the planned or the last called provider until then.
 */
export const servedBy =
  "CASE WHEN r.status = 'succeeded' OR (r.status = 'no_match' AND json_array_length(r.attempts) > 0) THEN r.provider END"
