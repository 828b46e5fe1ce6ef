/** A short table inside a panel, or a sentence in its place. Pages of long lists have a `PagedTable`. */
import { Panel } from "../../parts/Page.tsx"
import { type Column, DataTable } from "../../parts/Table.tsx"

interface SmallTableProps<A> {
  readonly label: string
  readonly rows: ReadonlyArray<A>
  readonly columns: ReadonlyArray<Column<A>>
  readonly keyOf?: (row: A) => string
  /** In place of a table without rows. */
  readonly none: string
}

export const SmallTable = <A,>({ label, none, ...table }: SmallTableProps<A>) => (
  // The panel around it often has the same name.
  <DataTable plain label={`${label} (table)`} empty={<p className="text-muted">{none}</p>} {...table} />
)

/** A panel that has only the table. */
export const TablePanel = <A,>({ title, ...table }: SmallTableProps<A> & { readonly title: string }) => (
  <Panel title={title}>
    <SmallTable {...table} />
  </Panel>
)
