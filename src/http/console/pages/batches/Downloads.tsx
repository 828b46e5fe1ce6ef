/** Saves the results of a batch, as far as they are there: beside the columns of the file, as CSV, or as JSON lines. */
import { Download } from "lucide-react"
import { useState } from "react"
import { useAction } from "../../actions/Actions.tsx"
import { request } from "../../data/api.ts"
import { save } from "../../data/save.ts"
import { counted } from "../../data/words.ts"
import { Dialog } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { Menu } from "../../parts/Menu.tsx"
import { keepFile, keptFile, type Sheet, sheetOf } from "./readFile.ts"
import { addressOfResults, allResults, type Batch, endedOf } from "./useBatch.ts"

/** Null if this can be the file of the batch. */
const problemWith = ({ name, rows }: Sheet, batch: Batch): string | null =>
  rows.length === batch.rows.total
    ? null
    : `${name} has ${counted(rows.length, "row")}, and the batch has ${batch.rows.total.toLocaleString("en")}. Choose the file that the batch was made of.`

/** The service has only the fields that were run, so the file's other columns come from the file. */
const AskFile = ({
  batch,
  open,
  onClose,
  onSheet
}: {
  readonly batch: Batch
  readonly open: boolean
  readonly onClose: () => void
  readonly onSheet: (sheet: Sheet) => void
}) => {
  const [problem, setProblem] = useState<string | null>(null)
  const take = async (file: File | undefined) => {
    if (file === undefined) return
    const read = sheetOf(file.name, new Uint8Array(await file.arrayBuffer()))
    const newProblem = "problem" in read ? read.problem : problemWith(read.sheet, batch)
    setProblem(newProblem)
    if (newProblem === null && "sheet" in read) onSheet(read.sheet)
  }
  return (
    <Dialog open={open} onClose={onClose} title="Choose the file of this batch">
      <p className="mb-4 text-muted">
        The service keeps what was run, not your file. Choose it once more, and the results are saved beside its
        columns. It is not sent.
      </p>
      <label htmlFor="batch-file" className="mb-1 block font-medium">
        CSV of the batch
      </label>
      <input
        id="batch-file"
        type="file"
        accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
        onChange={(event) => {
          take(event.target.files?.[0]).catch(() => setProblem("The file can't be read. Choose it again."))
        }}
        className="block w-full"
      />
      {problem !== null && (
        <p role="alert" className="mt-2 break-words text-red">
          {problem}
        </p>
      )}
    </Dialog>
  )
}

const useDownloads = (batch: Batch) => {
  const says = "Saved."
  const whole = useAction(
    async ({ accept, ending }: { readonly accept: string; readonly ending: string }) => {
      const response = await request("GET", addressOfResults(batch.id), {}, { headers: { accept } })
      save(await response.blob(), `${batch.id}.${ending}`)
    },
    { says }
  )
  const beside = useAction(
    async (sheet: Sheet) => {
      const [lines, { joinedCsv }] = await Promise.all([allResults(batch.id), import("../../../client/JoinedCsv.ts")])
      save(joinedCsv(sheet, lines), sheet.name.replace(/(\.\w{1,4})?$/, "-results.csv"))
    },
    { says }
  )
  return { whole, beside }
}

export const Downloads = ({ batch }: { readonly batch: Batch }) => {
  const [asks, setAsks] = useState(false)
  const { whole, beside } = useDownloads(batch)
  const join = () => {
    const sheet = keptFile(batch.id)
    if (sheet === null) setAsks(true)
    else beside.mutate(sheet)
  }
  if (endedOf(batch) === 0) return null
  return (
    <>
      <Menu
        actions={[
          { word: "CSV beside the columns of the file", run: join },
          { word: "CSV of the results", run: () => whole.mutate({ accept: "text/csv", ending: "csv" }) },
          { word: "JSON lines", run: () => whole.mutate({ accept: "application/x-ndjson", ending: "jsonl" }) }
        ]}
      >
        <Download size={14} aria-hidden="true" /> Download {batch.done ? "results" : "results so far"}
        {(whole.isPending || beside.isPending) && "…"}
      </Menu>
      <AskFile
        batch={batch}
        open={asks}
        onClose={() => setAsks(false)}
        onSheet={(sheet) => {
          keepFile(batch.id, sheet)
          setAsks(false)
          beside.mutate(sheet)
        }}
      />
      <FormProblem error={whole.error ?? beside.error} />
    </>
  )
}
