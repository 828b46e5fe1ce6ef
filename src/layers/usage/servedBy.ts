/**
 * SQL of the provider that served a run: it delivered the result, or it answered that there is none. Null for every other run, whatever the
 * plan was and whoever was called. The column has the planned or the last called provider until then.
 */
export const servedBy =
  "CASE WHEN r.status = 'succeeded' OR (r.status = 'no_match' AND json_array_length(r.attempts) > 0) THEN r.provider END"
