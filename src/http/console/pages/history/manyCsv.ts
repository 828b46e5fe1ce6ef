/** The rows of a list as CSV. Loaded when somebody asks for it. */
import { csvText } from "../../../client/Csv.ts"
import type { Row } from "./useHistory.ts"

const columns = [
  "subject",
  "kind",
  "normalized",
  "runs",
  "last_seen",
  "contacted",
  "last_contact_at",
  "last_contact_run",
  "unknown_outcome_run",
  "reusable_run",
  "reusable_what",
  "reusable_charged",
  "error"
]

export const manyCsv = (items: ReadonlyArray<Row>): string =>
  csvText(
    columns,
    items.map((row) => {
      const { query, kind, normalized, count, last_seen, contacted, last_contact, last_unknown, reusable, error } = row
      return [
        ...[query, kind, normalized, count, last_seen, contacted ? "yes" : "no"],
        ...[last_contact?.created_at ?? null, last_contact?.run_id ?? null, last_unknown?.run_id ?? null],
        ...[reusable?.run_id ?? null, reusable?.capability ?? reusable?.endpoint ?? null, reusable?.charged ?? null],
        error?.message ?? null
      ]
    })
  )
