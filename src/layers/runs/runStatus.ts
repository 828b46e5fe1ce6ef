/**
 * SQL of a run's status, from `r` (runs) and `o` (its row of open_runs while it is open).
 *
 * A run whose provider was called is running, also while it waits in the queue for another try: after its worker died, or when the next provider
 * is busy. So it can't be cancelled any more. A run that waits for an approval is queued.
 */
export const runStatus =
  "CASE WHEN o.state = 'waiting' THEN 'queued' WHEN o.state = 'queued' AND json_array_length(o.attempts) > 0 THEN 'running' ELSE coalesce(o.state, r.status) END"
