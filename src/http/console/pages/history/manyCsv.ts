/** The rows of a list as CSV. Loaded when somebody asks for it. */
import { csvLines, csvRows } from "../../../client/Csv.ts"
import type { Row } from "./useHistory.ts"

const columns = [
  ...([
    "subject",
    "kind",
    "normalized",
    "runs",
    "last_seen",
    "contacted",
    "last_contact_at",
    "last_contact_run"
  ] as const),
  ...(["unknown_outcome_run", "reusable_run", "reusable_what", "reusable_charged", "error"] as const)
]

const cellsOf = ({ query, count, contacted, last_contact, last_unknown, reusable, error, ...row }: Row) => ({
  ...row,
  subject: query,
  runs: count,
  contacted: contacted ? "yes" : "no",
  last_contact_at: last_contact?.created_at ?? null,
  last_contact_run: last_contact?.run_id ?? null,
  unknown_outcome_run: last_unknown?.run_id ?? null,
  reusable_run: reusable?.run_id ?? null,
  reusable_what: reusable?.capability ?? reusable?.endpoint ?? null,
  reusable_charged: reusable?.charged ?? null,
  error: error?.message ?? null
})

export const manyCsv = (items: ReadonlyArray<Row>): string => csvLines([columns]) + csvRows(columns, items.map(cellsOf))
