/**
 * A table of objects. Where its rows open, `j` and `k` move, enter opens, and each row has one link for pointers and screen readers.
 *
 * On narrow screens it scrolls sideways inside its own frame; columns marked `wide` are left out there.
 */
import { type ReactNode, useEffect, useRef, useState } from "react"
import { useGo } from "../data/address.ts"
import { useKeys } from "../data/keys.ts"
import { None, type Nothing } from "./Page.tsx"

export interface Column<A> {
  readonly title: string
  readonly cell: (row: A) => ReactNode
  readonly align?: "right"
  /** Left out below 640 px. */
  readonly wide?: boolean
}

const cellLook = "px-3 py-2 align-middle max-sm:px-2"
const columnLook = <A,>({ align, wide }: Column<A>) =>
  `${cellLook} ${align === "right" ? "text-right" : "text-left"} ${wide === true ? "max-sm:hidden" : ""}`

/** The place of the current row, which comes into sight when it changes. A table whose rows open nothing leaves the keys to others. */
const useCurrent = <A,>(rows: ReadonlyArray<A>, toOf: ((row: A) => string) | undefined) => {
  const [at, setAt] = useState(-1)
  const go = useGo()
  const current = useRef<HTMLTableRowElement>(null)
  const move = (steps: number) => setAt((before) => Math.min(rows.length - 1, Math.max(0, before + steps)))
  const open = (to: (row: A) => string) => {
    const row = rows[at]
    if (row !== undefined) go(to(row))
  }
  useKeys(toOf === undefined ? {} : { j: () => move(1), k: () => move(-1), Enter: () => open(toOf) })
  useEffect(() => {
    // Newer browsers answer with a promise, which an effect must not return.
    current.current?.scrollIntoView({ block: "nearest" })
  }, [at])
  return { at, current }
}

/** The id of a row, or of what it is about; or its place in a table whose rows have none. */
const idOf = (row: unknown, index: number): string => {
  const { id, run_id, payment_id, event_id } = Object(row)
  return String(id ?? run_id ?? payment_id ?? event_id ?? index)
}

export interface TableProps<A> extends Partial<Nothing> {
  readonly label: string
  readonly rows: ReadonlyArray<A>
  readonly columns: ReadonlyArray<Column<A>>
  /** Tells rows apart whose cells have a state and that have no `id`. */
  readonly keyOf?: (row: A, index: number) => string
  /** Where enter leads. */
  readonly toOf?: ((row: A) => string) | undefined
  /** Without a frame of its own, inside a panel. */
  readonly plain?: boolean
}

export const DataTable = <A,>({ label, rows, columns, keyOf = idOf, toOf, plain, empty, ...rest }: TableProps<A>) => {
  const { at, current } = useCurrent(rows, toOf)
  if (rows.length === 0 && empty !== undefined) return <None empty={empty} {...rest} />
  return (
    <section
      aria-label={label}
      tabIndex={0}
      className={plain ? "overflow-x-auto" : "overflow-x-auto rounded border border-line"}
    >
      <table className="w-full border-collapse text-small">
        <thead>
          <tr className={plain ? "border-b border-line" : "border-b border-line bg-sunken"}>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={`${columnLook(column)} font-medium text-muted`}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr
              key={keyOf(row, index)}
              ref={index === at ? current : undefined}
              aria-current={index === at ? "true" : undefined}
              className={`border-b border-line last:border-b-0 ${plain ? "" : "hover:bg-hover"} ${index === at ? "bg-accent-soft" : ""}`}
            >
              {columns.map((column) => (
                <td key={column.title} className={columnLook(column)}>
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
