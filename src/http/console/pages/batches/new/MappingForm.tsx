/** Chooses which column fills which field of the input. */
import { Select } from "../../../parts/Field.tsx"
import type { Sheet } from "../readFile.ts"
import type { InputField, InputForm, Mapping } from "./inputs.ts"

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

const FieldColumn = ({
  field,
  options,
  column,
  onColumn
}: {
  readonly field: InputField
  readonly options: ReadonlyArray<readonly [string, string]>
  readonly column: string
  readonly onColumn: (column: string) => void
}) => {
  const list = field.type === "array" ? " Several values in one cell are separated by semicolons." : ""
  return (
    <Select
      label={field.required ? `${field.name} (required)` : field.name}
      options={options}
      value={column}
      onChange={(event) => onColumn(event.target.value)}
      hint={`${field.description}${list}`}
    />
  )
}

export const MappingForm = ({
  form,
  sheet,
  mapping,
  onMapping
}: {
  readonly form: InputForm
  readonly sheet: Sheet
  readonly mapping: Mapping
  readonly onMapping: (mapping: Mapping) => void
}) => {
  const options = optionsOf(sheet)
  // A cell holds no object.
  const fields = form.fields.filter(({ type }) => type !== "object")
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        {fields.map((field) => (
          <FieldColumn
            key={field.name}
            field={field}
            options={options}
            column={mapping[field.name] ?? ""}
            onColumn={(column) => onMapping({ ...mapping, [field.name]: column })}
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
