/**
 * A table of objects: `j` and `k` move, enter opens, and each row has one link for pointers and screen readers.
 *
 * On narrow screens it scrolls sideways inside its own frame; columns marked `wide` are left out there.
 */
import { type ReactNode, useState } from "react"
import { useGo } from "../data/address.ts"
import { useKeys } from "../data/keys.ts"

export interface Column<A> {
  readonly title: string
  readonly cell: (row: A) => ReactNode
  readonly align?: "right"
  /** Left out below 640 px. */
  readonly wide?: boolean
}

export const cellLook = "px-3 py-2 align-middle"
const columnLook = <A,>({ align, wide }: Column<A>) =>
  `${align === "right" ? "text-right" : "text-left"} ${wide === true ? "max-sm:hidden" : ""}`

export const DataTable = <A,>({
  label,
  rows,
  columns,
  keyOf,
  toOf
}: {
  readonly label: string
  readonly rows: ReadonlyArray<A>
  readonly columns: ReadonlyArray<Column<A>>
  readonly keyOf: (row: A) => string
  /** Where enter leads. */
  readonly toOf?: (row: A) => string
}) => {
  const [at, setAt] = useState(-1)
  const go = useGo()
  const move = (steps: number) => setAt((before) => Math.min(rows.length - 1, Math.max(0, before + steps)))
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const row = rows[at]
      if (row !== undefined && toOf !== undefined) go(toOf(row))
    }
  })
  return (
    <section aria-label={label} tabIndex={0} className="overflow-x-auto rounded border border-line">
      <table className="w-full border-collapse text-small">
        <thead>
          <tr className="border-b border-line bg-sunken">
            {columns.map((column) => (
              <th key={column.title} scope="col" className={`${cellLook} font-medium text-muted ${columnLook(column)}`}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr
              key={keyOf(row)}
              aria-current={index === at ? "true" : undefined}
              className={`border-b border-line last:border-b-0 hover:bg-hover ${index === at ? "bg-accent-soft" : ""}`}
            >
              {columns.map((column) => (
                <td key={column.title} className={`${cellLook} ${columnLook(column)}`}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
