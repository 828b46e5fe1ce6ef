/** A short table inside a panel, or a sentence in its place. Pages of long lists have a `PagedTable`. */
import { type Column, DataTable } from "../../parts/Table.tsx"

export const SmallTable = <A,>({
  label,
  none,
  ...table
}: {
  readonly label: string
  readonly rows: ReadonlyArray<A>
  readonly columns: ReadonlyArray<Column<A>>
  readonly keyOf: (row: A) => string
  /** In place of a table without rows. */
  readonly none: string
}) =>
  table.rows.length === 0 ? (
    <p className="text-muted">{none}</p>
  ) : (
    // The panel around it often has the same name.
    <DataTable plain label={`${label} (table)`} {...table} />
  )
