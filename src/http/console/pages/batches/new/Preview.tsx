/** The first rows as they will be run, and every row in which something is wrong. */
import { counted } from "../../../data/words.ts"
import { type Column, DataTable } from "../../../parts/Table.tsx"
import type { CellValue } from "../../../../client/Columns.ts"
import type { Input } from "./inputs.ts"

export interface CheckedRow {
  /** Counted from 1, without the header line. */
  readonly row: number
  readonly input: Input
  readonly problems: ReadonlyArray<string>
}

const rowsShown = 5
const problemsShown = 50

const wordsOf = (value: CellValue | undefined): string =>
  value === undefined ? "" : typeof value === "object" ? value.join("; ") : String(value)

const columnsOf = (fields: ReadonlyArray<string>): ReadonlyArray<Column<CheckedRow>> => [
  { title: "Row", cell: ({ row }) => row },
  ...fields.map((field) => ({
    title: field,
    cell: ({ input }: CheckedRow) => <span className="block max-w-64 truncate">{wordsOf(input[field])}</span>
  })),
  {
    title: "Check",
    cell: ({ problems }) =>
      problems.length === 0 ? (
        <span className="text-green">ok</span>
      ) : (
        <span className="text-red">{problems.join(", ")}</span>
      )
  }
]

/** Rows whose input an earlier row has too. */
export const repeatedIn = (rows: ReadonlyArray<CheckedRow>): number =>
  rows.length - new Set(rows.map(({ input }) => JSON.stringify(input))).size

export const Preview = ({
  rows,
  fields
}: {
  readonly rows: ReadonlyArray<CheckedRow>
  readonly fields: ReadonlyArray<string>
}) => {
  const wrong = rows.filter(({ problems }) => problems.length > 0)
  const repeated = repeatedIn(rows.filter(({ problems }) => problems.length === 0))
  return (
    <div className="space-y-3">
      <DataTable
        label="The first rows"
        rows={rows.slice(0, rowsShown)}
        columns={columnsOf(fields)}
        keyOf={({ row }) => String(row)}
      />
      {repeated > 0 && (
        <p className="text-amber">
          {counted(repeated, "row repeats", "rows repeat")} the input of an earlier row, and would be paid again. Remove{" "}
          {repeated === 1 ? "it" : "them"} from the file to pay once.
        </p>
      )}
      {wrong.length > 0 && (
        <details>
          <summary className="text-amber">
            {wrong.length.toLocaleString("en")} of {counted(rows.length, "row")} will be refused. A refused row costs
            nothing.
          </summary>
          <ul className="mt-2 max-h-60 list-disc overflow-y-auto pl-6" tabIndex={0} aria-label="Rows with a problem">
            {wrong.slice(0, problemsShown).map(({ row, problems }) => (
              <li key={row} className="break-words">
                Row {row}: {problems.join(", ")}
              </li>
            ))}
            {wrong.length > problemsShown && <li>and {(wrong.length - problemsShown).toLocaleString("en")} more</li>}
          </ul>
        </details>
      )}
    </div>
  )
}
