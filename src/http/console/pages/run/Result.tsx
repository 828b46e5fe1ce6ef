/** A result as fields with their words, and behind a tab as the JSON that it is; and why a run did not succeed, and what to do next. */
import type { ReactNode } from "react"
import { isRecord } from "../../data/json.ts"
import { nameWords } from "../../forms/providerText.ts"
import { Bullets, Facts } from "../../lists/Facts.tsx"
import { type Column, DataTable } from "../../parts/Table.tsx"
import { Status } from "../../parts/Values.tsx"
import { ControlLinks } from "../../running/controls.tsx"
import { Json, Tabs } from "./Tabs.tsx"
import type { Run } from "./useRun.ts"

type Members = Readonly<Record<string, unknown>>

const isSaid = (value: unknown): boolean => value !== null && value !== undefined && value !== ""

/** Deeper parts, more rows and more columns than these are in the JSON. */
const nestingMax = 3
const rowsMax = 50
const columnsMax = 6

const namesIn = (rows: ReadonlyArray<Members>) => {
  const names = new Set(rows.flatMap((row) => Object.keys(row).filter((name) => isSaid(row[name]))))
  return [...names].slice(0, columnsMax)
}

const List = ({ items, depth }: { readonly items: ReadonlyArray<unknown>; readonly depth: number }) => {
  const shown = items.slice(0, rowsMax)
  const more = items.length > rowsMax && (
    <p className="mt-1 text-muted">
      The first {rowsMax} of {items.length.toLocaleString("en")}. The JSON has all.
    </p>
  )
  const rows = shown.filter(isRecord)
  if (rows.length < shown.length)
    return (
      <>
        <ul className="space-y-1">
          {shown.map((one, index) => (
            <li key={index}>
              <Value value={one} depth={depth + 1} />
            </li>
          ))}
        </ul>
        {more}
      </>
    )
  return (
    <>
      <DataTable
        label="Items of the result"
        rows={rows}
        columns={namesIn(rows).map(
          (name): Column<Members> => ({
            title: nameWords(name),
            cell: (row) => <Value value={row[name]} depth={depth + 1} />
          })
        )}
      />
      {more}
    </>
  )
}

const Value = ({ value, depth }: { readonly value: unknown; readonly depth: number }): ReactNode => {
  if (!isSaid(value)) return <span className="text-muted">–</span>
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (typeof value !== "object") return <span className="wrap-anywhere whitespace-pre-line">{String(value)}</span>
  if (depth >= nestingMax) return <code className="font-mono text-small break-all">{JSON.stringify(value)}</code>
  if (Array.isArray(value))
    return value.length === 0 ? <span className="text-muted">none</span> : <List items={value} depth={depth} />
  const said = Object.entries(isRecord(value) ? value : {}).filter(([, one]) => isSaid(one))
  return (
    <Facts
      facts={said.map(([name, one]) => [nameWords(name), <Value key={name} value={one} depth={depth + 1} />] as const)}
    />
  )
}

export const Result = ({ run_id, result }: { readonly run_id: string; readonly result: unknown }) => (
  <Tabs
    label="Forms of the result"
    tabs={[
      { name: "Fields", content: <Value value={result} depth={0} /> },
      { name: "JSON", content: <Json value={result} label="the result" file={`${run_id}-result.json`} /> }
    ]}
  />
)

/** Why a run did not succeed, the control that blocked it, and what to do next. */
export const Trouble = ({ run }: { readonly run: Run }) => {
  const { error, controls = [], hints } = run
  if (error === undefined && hints.length === 0) return null
  return (
    <section aria-label="What happened" className="rounded border border-line p-4">
      {error !== undefined && (
        <p className="flex flex-wrap items-start gap-x-3 gap-y-1">
          <Status status={error.code === "outcome_unknown" ? "outcome_unknown" : run.status} />
          <span className="min-w-0 break-words">{error.message}</span>
          <code className="font-mono text-small text-muted">{error.code}</code>
        </p>
      )}
      <ControlLinks controls={controls} code={error?.code} />
      {hints.length > 0 && <Bullets items={hints} className="mt-2 pl-5 text-muted" />}
    </section>
  )
}
