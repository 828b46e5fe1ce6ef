/** Takes a CSV that is dropped or chosen, and says what is wrong with it. It is read in this page; nothing is sent before somebody runs it. */
import { Upload } from "lucide-react"
import { type DragEvent, useState } from "react"
import { counted } from "../../../client/Words.ts"
import { announce } from "../../parts/Values.tsx"
import { type Sheet, sheetOf } from "./readFile.ts"

interface FileDropProps {
  readonly label: string
  /** The file that was taken. */
  readonly sheet: Sheet | null
  readonly onSheet: (sheet: Sheet) => void
  /** What the page finds wrong with a file that can be read. */
  readonly problemWith?: (sheet: Sheet) => string | null
}

export const FileDrop = ({ label, sheet, onSheet, problemWith = () => null }: FileDropProps) => {
  const [problem, setProblem] = useState<string | null>(null)
  const take = async (file: File | undefined) => {
    if (file === undefined) return
    try {
      const read = sheetOf(file.name, new Uint8Array(await file.arrayBuffer()))
      const newProblem = "problem" in read ? read.problem : problemWith(read.sheet)
      setProblem(newProblem)
      if (newProblem !== null || "problem" in read) return
      announce(`${read.sheet.name}: ${read.sheet.rows.length} rows.`)
      onSheet(read.sheet)
    } catch {
      setProblem(`${file.name} can't be read. Choose it again; it may have been changed or moved.`)
    }
  }
  const [isOver, setOver] = useState(false)
  const dropped = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void take(event.dataTransfer.files[0])
  }
  return (
    <div>
      <div
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={dropped}
        className={`flex flex-wrap items-center gap-x-6 gap-y-3 rounded border border-dashed p-6 max-sm:p-4 ${isOver ? "border-accent bg-accent-soft" : "border-line-strong"}`}
      >
        <Upload size={20} aria-hidden="true" className="shrink-0 text-muted" />
        <div className="min-w-0 flex-1">
          <label htmlFor="file" className="mb-1 block font-medium">
            {label}
          </label>
          <input
            id="file"
            type="file"
            accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
            aria-describedby="file-hint"
            onChange={(event) => {
              void take(event.target.files?.[0])
              // The same file can be chosen again after it was changed.
              event.target.value = ""
            }}
            // The browser would say "No file chosen", because the value is emptied.
            className="block w-full max-w-full text-transparent"
          />
          <p id="file-hint" className="mt-1 text-small text-muted">
            A header line, then up to 10,000 rows, 8 MiB. Commas, semicolons or tabs.
          </p>
        </div>
      </div>
      {problem !== null && (
        <p role="alert" className="mt-2 break-words text-red">
          {problem}
        </p>
      )}
      {sheet !== null && (
        <p className="mt-2 break-words">
          <strong>{sheet.name}</strong>: {counted(sheet.rows.length, "row")}, {counted(sheet.header.length, "column")}
        </p>
      )}
      {sheet?.notes.map((note) => (
        <p key={note} className="mt-1 break-words text-amber">
          {note}
        </p>
      ))}
    </div>
  )
}
