/** A short table inside a panel. A page may have several, so it takes no keys; the long ones are `DataTable`. */
import type { ReactNode } from "react"
import { cellLook } from "../../parts/Table.tsx"

export interface SmallColumn<A> {
  readonly title: string
  readonly cell: (row: A) => ReactNode
  readonly align?: "right"
}

const lookOf = (align: "right" | undefined) => `${cellLook} ${align === "right" ? "text-right" : "text-left"}`

export const SmallTable = <A,>({
  label,
  rows,
  columns,
  keyOf,
  none
}: {
  readonly label: string
  readonly rows: ReadonlyArray<A>
  readonly columns: ReadonlyArray<SmallColumn<A>>
  readonly keyOf: (row: A) => string
  /** In place of a table without rows. */
  readonly none: string
}) =>
  rows.length === 0 ? (
    <p className="text-muted">{none}</p>
  ) : (
    <section aria-label={`${label} (table)`} tabIndex={0} className="overflow-x-auto">
      <table className="w-full border-collapse text-small">
        <thead>
          <tr className="border-b border-line">
            {columns.map(({ title, align }) => (
              <th key={title} scope="col" className={`${lookOf(align)} font-medium text-muted`}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="border-b border-line last:border-b-0">
              {columns.map(({ title, cell, align }) => (
                <td key={title} className={lookOf(align)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
