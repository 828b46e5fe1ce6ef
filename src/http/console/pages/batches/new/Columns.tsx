/** Chooses which column fills which field of the input, and shows the first rows as they will be run, and every row in which something is wrong. */
import type { CellValue } from "../../../../client/Columns.ts"
import { counted } from "../../../../client/Words.ts"
import { Select } from "../../../parts/Field.tsx"
import { type Column, DataTable } from "../../../parts/Table.tsx"
import type { Sheet } from "../readFile.ts"
import type { Input, InputField, InputForm, Mapping } from "./inputs.ts"

const exampleChars = 30

const optionsOf = ({ header, rows }: Sheet): ReadonlyArray<readonly [string, string]> => [
  ["", "No column"],
  ...[...new Set(header)]
    .filter((name) => name !== "")
    .map((name) => {
      const at = header.indexOf(name)
      const example = rows.find((row) => (row[at] ?? "") !== "")?.[at] ?? ""
      const short = example.length > exampleChars ? `${example.slice(0, exampleChars)}…` : example
      return [name, short === "" ? `${name} (empty)` : `${name}, such as ${short}`] as const
    })
]

const hintOf = ({ description, type }: InputField) =>
  type === "array" ? `${description} Several values in one cell are separated by semicolons.` : description

interface MappingFormProps {
  readonly form: InputForm
  readonly sheet: Sheet
  readonly mapping: Mapping
  readonly onMapping: (mapping: Mapping) => void
}

export const MappingForm = ({ form, sheet, mapping, onMapping }: MappingFormProps) => {
  const options = optionsOf(sheet)
  // A cell holds no object.
  const fields = form.fields.filter(({ type }) => type !== "object")
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        {fields.map((field) => (
          <Select
            key={field.name}
            label={field.required ? `${field.name} (required)` : field.name}
            options={options}
            value={mapping[field.name] ?? ""}
            onChange={(event) => onMapping({ ...mapping, [field.name]: event.target.value })}
            hint={hintOf(field)}
          />
        ))}
      </div>
      {form.together.length > 0 && (
        <p className="mt-4 text-muted">
          A row needs {form.together.map((names) => names.join(" and ")).join("; or ")}.
        </p>
      )}
    </>
  )
}
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
      <DataTable label="The first rows" rows={rows.slice(0, rowsShown)} columns={columnsOf(fields)} />
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
