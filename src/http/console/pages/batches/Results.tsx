/** What became of the rows that have ended, in the order of the file, and how it is saved: beside the file's columns, as CSV, or as JSON lines. */
import { keepPreviousData } from "@tanstack/react-query"
import { Download } from "lucide-react"
import { useState } from "react"
import { counted } from "../../../client/Words.ts"
import { useAction } from "../../actions/Actions.tsx"
import { useFilters } from "../../data/address.ts"
import { useRead } from "../../data/api.ts"
import { save, saveAnswer } from "../../data/save.ts"
import { FilterSelect } from "../../lists/Filters.tsx"
import { PagedTable } from "../../lists/PagedList.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { Dialog } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { Menu } from "../../parts/Menu.tsx"
import { Empty, Panel, RowLink } from "../../parts/Page.tsx"
import { statusWord } from "../../parts/Values.tsx"
import { FileDrop } from "./FileDrop.tsx"
import { keptFiles, type Sheet } from "./readFile.ts"
import { addressOfResults, allResults, type Batch, endedOf, ends, readResults } from "./useBatch.ts"

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

const pageSize = 50
const refreshMillis = 3_000
const fieldsShown = 4
const charsShown = 160

/** The first plain fields of a result, such as `email: ada@example.com`. */
const summaryOf = (result: unknown): string => {
  if (typeof result !== "object" || result === null) return JSON.stringify(result) ?? ""
  const plain = Object.entries(result)
    .filter(([name, value]) => name !== "sandbox" && value !== null && value !== "" && typeof value !== "object")
    .slice(0, fieldsShown)
    .map(([name, value]) => `${name}: ${value}`)
  const text = plain.length === 0 ? JSON.stringify(result) : plain.join(", ")
  return text.length > charsShown ? `${text.slice(0, charsShown)}…` : text
}

const columns = columnsOf("BatchResult", {
  row: ({ row, run_id }) =>
    run_id === null ? (
      row
    ) : (
      <RowLink to={`/runs/${run_id}`} title={run_id}>
        {row}
      </RowLink>
    ),
  result: ({ result, error }) =>
    error === undefined ? (
      <span className="wrap-anywhere">{result === undefined ? "" : summaryOf(result)}</span>
    ) : (
      <span className="wrap-anywhere text-muted">{error.message}</span>
    )
})

const Rows = ({ batch, status }: { readonly batch: Batch; readonly status: string }) => {
  const [wanted, setWanted] = useState(pageSize)
  const { id, done, finished_at } = batch
  const { data, error, refetch, isFetching } = useRead(
    ["batch", id, "results", status, wanted, finished_at],
    ({ signal }) => readResults(id, { status, wanted, signal }),
    {
      enabled: endedOf(batch) > 0,
      placeholderData: keepPreviousData,
      // Rows in sight change only when the batch is retried, and then it finishes anew. A list that is full stays as it is.
      refetchInterval: ({ state }) => (done || (state.data?.lines.length ?? 0) >= wanted ? false : refreshMillis),
      staleTime: Number.POSITIVE_INFINITY
    }
  )
  if (endedOf(batch) === 0) return <Empty title="Results will be here as rows end." />
  return (
    <PagedTable
      paged={{
        items: data?.lines ?? null,
        error,
        hasMore: data?.more === true,
        isReading: isFetching,
        more: () => setWanted(wanted + pageSize * 4),
        again: () => void refetch()
      }}
      label="Rows of the batch"
      columns={columns}
      toOf={({ run_id }) => (run_id === null ? `/batches/${id}` : `/runs/${run_id}`)}
      empty={status === "" ? "No row has ended yet." : `No row is ${statusWord(status)}.`}
    />
  )
}

export const Results = ({ batch }: { readonly batch: Batch }) => {
  const [{ status = "" }] = useFilters()
  const chosen = ends.find((end) => end === status) ?? ""
  return (
    <Panel
      title="Results"
      actions={
        <FilterSelect
          name="status"
          label="Status of the rows"
          any="All rows"
          options={ends.map((end) => [end, statusWord(end)] as const)}
        />
      }
    >
      <Rows key={chosen} batch={batch} status={chosen} />
    </Panel>
  )
}
