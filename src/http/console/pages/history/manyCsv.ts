/** The rows of a list as CSV. Loaded when somebody asks for it. */
import { csvLines } from "../../../client/Csv.ts"
import type { Row } from "./useHistory.ts"

/** By column, in the order of the columns. */
const cellsOf = ({ query, kind, normalized, count, last_seen, contacted, ...row }: Row) => ({
  ...{ subject: query, kind, normalized, runs: count, last_seen, contacted: contacted ? "yes" : "no" },
  last_contact_at: row.last_contact?.created_at ?? null,
  last_contact_run: row.last_contact?.run_id ?? null,
  unknown_outcome_run: row.last_unknown?.run_id ?? null,
  reusable_run: row.reusable?.run_id ?? null,
  reusable_what: row.reusable?.capability ?? row.reusable?.endpoint ?? null,
  reusable_charged: row.reusable?.charged ?? null,
  error: row.error?.message ?? null
})

export const manyCsv = (items: ReadonlyArray<Row>): string => {
  const rows = items.map(cellsOf)
  return csvLines([Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))])
}
