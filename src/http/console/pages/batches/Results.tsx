/** What became of the rows that have ended, in the order of the file. */
import { keepPreviousData } from "@tanstack/react-query"
import { useState } from "react"
import { useFilters } from "../../data/address.ts"
import { useRead } from "../../data/api.ts"
import { FilterSelect } from "../../lists/Filters.tsx"
import { PagedTable } from "../../lists/PagedList.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { Empty, Panel, RowLink } from "../../parts/Page.tsx"
import { statusWord } from "../../parts/Values.tsx"
import { type Batch, endedOf, ends, readResults } from "./useBatch.ts"

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
      keyOf={({ row }) => String(row)}
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
