/** Saves the results of a batch, as far as they are there: beside the columns of the file, as CSV, or as JSON lines. */
import { Download } from "lucide-react"
import { useState } from "react"
import { useAction } from "../../actions/Actions.tsx"
import { save, saveAnswer } from "../../data/save.ts"
import { counted } from "../../data/words.ts"
import { Dialog } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { Menu } from "../../parts/Menu.tsx"
import { FileDrop } from "./FileDrop.tsx"
import { keptFiles, type Sheet } from "./readFile.ts"
import { addressOfResults, allResults, type Batch, endedOf } from "./useBatch.ts"

/** Null if this can be the file of the batch. */
const problemWith = ({ name, rows }: Sheet, batch: Batch): string | null =>
  rows.length === batch.rows.total
    ? null
    : `${name} has ${counted(rows.length, "row")}, and the batch has ${batch.rows.total.toLocaleString("en")}. Choose the file that the batch was made of.`

export const Downloads = ({ batch }: { readonly batch: Batch }) => {
  const [asks, setAsks] = useState(false)
  const saving = useAction((send: () => Promise<unknown>) => send(), { says: "Saved." })
  const whole = (accept: string, ending: string) => () =>
    saving.mutate(() => saveAnswer(addressOfResults(batch.id), accept, `${batch.id}.${ending}`))
  const beside = (sheet: Sheet) =>
    saving.mutate(async () => {
      const [lines, { joinedCsv }] = await Promise.all([allResults(batch.id), import("../../../client/JoinedCsv.ts")])
      save(joinedCsv(sheet, lines), sheet.name.replace(/(\.\w{1,4})?$/, "-results.csv"))
    })
  const join = () => {
    const sheet = keptFiles.get(batch.id)
    if (sheet === undefined) setAsks(true)
    else beside(sheet)
  }
  if (endedOf(batch) === 0) return null
  return (
    <>
      <Menu
        actions={[
          { word: "CSV beside the columns of the file", run: join },
          { word: "CSV of the results", run: whole("text/csv", "csv") },
          { word: "JSON lines", run: whole("application/x-ndjson", "jsonl") }
        ]}
      >
        <Download size={14} aria-hidden="true" /> Download {batch.done ? "results" : "results so far"}
        {saving.isPending && "…"}
      </Menu>
      <Dialog open={asks} onClose={() => setAsks(false)} title="Choose the file of this batch">
        {/* The service has only the fields that were run, so the file's other columns come from the file. */}
        <p className="mb-4 text-muted">
          The service keeps what was run, not your file. Choose it once more, and the results are saved beside its
          columns. It is not sent.
        </p>
        <FileDrop
          label="CSV of the batch"
          sheet={null}
          problemWith={(sheet) => problemWith(sheet, batch)}
          onSheet={(sheet) => {
            keptFiles.set(batch.id, sheet)
            setAsks(false)
            beside(sheet)
          }}
        />
      </Dialog>
      <FormProblem error={saving.error} />
    </>
  )
}
