/** Takes a CSV that is dropped or chosen. It is read in this page; nothing is sent before somebody runs it. */
import { Upload } from "lucide-react"
import { type DragEvent, useState } from "react"
import { counted } from "../../../data/words.ts"
import type { Sheet } from "../readFile.ts"
import { FileProblem, useSheetFile } from "../useSheetFile.tsx"

export const FileDrop = ({
  sheet,
  onSheet
}: {
  readonly sheet: Sheet | null
  readonly onSheet: (sheet: Sheet) => void
}) => {
  const { take, problem } = useSheetFile(onSheet)
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
            {sheet === null ? "Drop a CSV here, or choose a file" : "Drop or choose another file"}
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
      <FileProblem problem={problem} />
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
