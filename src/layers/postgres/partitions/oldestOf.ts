/**
 * The smallest of some runs' ids. As a condition beside a join by id it changes no result. PostgreSQL then leaves out the months before it when
 * the statement starts, instead of preparing a scan of each.
 */
export const oldestOf = (runs: ReadonlyArray<{ readonly run_id: string }>): string =>
  runs.reduce((oldest, { run_id }) => (run_id < oldest ? run_id : oldest), "run_zzzzzzzzzz")
