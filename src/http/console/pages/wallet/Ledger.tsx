/** The ledger, newest first, with the balance after each entry. Its filters live in the address. */
import { useMemo, useState } from "react"
import { type AnswerOf, api, queries } from "../../data/api.ts"
import { type Search, setOnly, useFilters } from "../../data/address.ts"
import { useLive } from "../../data/live.ts"
import { sumOf } from "../../data/money.ts"
import { exactly } from "../../data/time.ts"
import { Export, FilterSelect, Period, SearchBox } from "../../lists/Filters.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { Button, Panel, RowLink } from "../../parts/Page.tsx"
import { Id, Money, Time } from "../../parts/Values.tsx"
import { wordsOfEntries } from "../../../client/operations.ts" with { type: "macro" }
import type { Column } from "../../parts/Table.tsx"
import { isRunId } from "../../running/request.ts"
import { Receipt } from "./Downloads.tsx"

type Entry = AnswerOf<"wallet", "transactions">["items"][number]
type EntryType = Entry["type"]

const words = wordsOfEntries()
const isType = (text: string): text is EntryType => Object.hasOwn(words, text)

/** The entries of one run, or one other entry. Newest first, as they are read. */
type Row = readonly [Entry, ...ReadonlyArray<Entry>]

/** A run is one row, at the place of its newest entry. */
const folded = (entries: ReadonlyArray<Entry>): ReadonlyArray<Row> => {
  const rows = new Map<string, Row>()
  for (const entry of entries) {
    const key = isRunId(entry.reference) ? entry.reference : entry.id
    const row = rows.get(key)
    rows.set(key, row === undefined ? [entry] : [...row, entry])
  }
  return [...rows.values()]
}

/** Holds and releases leave the balance as it is. */
const movesBalance = ({ type }: Entry) => type !== "reserve" && type !== "release"
const amountOf = (row: Row) =>
  row.length === 1 ? row[0].amount : sumOf(row.filter(movesBalance).map(({ amount }) => amount))

const Steps = ({ row }: { readonly row: Row }) => (
  <ol aria-label="Steps of the run" className="flex flex-wrap gap-x-2 text-muted">
    {row.toReversed().map(({ id, type, amount, created_at }, index) => (
      <li key={id} title={exactly(created_at)}>
        {index > 0 && <span aria-hidden="true">→ </span>}
        {words[type]} <Money amount={amount} />
      </li>
    ))}
  </ol>
)

const Of = ({ row }: { readonly row: Row }) => {
  const [{ type, reference, note }] = row
  if (!isRunId(reference))
    return (
      <>
        <span className="font-medium">{words[type]}</span>
        <span className="block">
          <Id id={reference} what="the reference" />
        </span>
        {note !== null && <span className="block break-words text-muted">{note}</span>}
      </>
    )
  return (
    <>
      <span className="flex flex-wrap items-center gap-x-2">
        <RowLink to={`/runs/${reference}`} className="font-mono break-all">
          {reference}
        </RowLink>
        {row.some((one) => one.type === "settle") && <Receipt run_id={reference} />}
      </span>
      <Steps row={row} />
    </>
  )
}

const columns: ReadonlyArray<Column<Row>> = [
  { title: "When", cell: ([{ created_at }]) => <Time at={created_at} />, wide: true },
  { title: "Entries", cell: (row) => <Of row={row} /> },
  { title: "Amount", cell: (row) => <Money amount={amountOf(row)} />, align: "right" },
  { title: "Balance", cell: ([{ balance_after }]) => <Money amount={balance_after} />, align: "right", wide: true }
]
const queryOf = (search: Search) => {
  const { from = "", to = "", run = "", type = "" } = search
  return { ...(isType(type) ? { type } : {}), ...setOnly({ run_id: run, from, to }) }
}

const Filters = () => {
  const [search, change] = useFilters()
  return (
    <div className="mb-4 flex flex-wrap items-start gap-2">
      <FilterSelect
        name="type"
        label="Type of entry"
        any="All entries"
        options={Object.entries(words).map(([type, word]) => [type, `Only: ${word}`] as const)}
      />
      <SearchBox
        label="Only entries of the run with this id"
        placeholder="Run id"
        value={search["run"] ?? ""}
        onSearch={(run) => change({ run })}
      />
      <Period />
    </div>
  )
}

/** Rows never move under the pointer: new entries are announced, and shown when somebody asks for them. */
const NewEntries = () => {
  const [hasNew, setHasNew] = useState(false)
  useLive(({ type }) => {
    if (type === "wallet.changed") setHasNew(true)
  })
  if (!hasNew) return null
  return (
    <Button
      className="mb-3"
      onClick={() => {
        setHasNew(false)
        void queries.resetQueries({ queryKey: ["ledger"] })
      }}
    >
      Show new entries
    </Button>
  )
}

export const Ledger = () => {
  const [search] = useFilters()
  const query = useMemo(() => queryOf(search), [search])
  const paged = usePaged(["ledger", query], (from) => api.wallet.transactions({ query: { ...query, ...from } }))
  const rows = useMemo(() => paged.items && folded(paged.items), [paged.items])
  const isFiltered = Object.keys(query).length > 0
  return (
    <Panel title="Ledger" actions={<Export path="/v1/wallet/transactions" query={query} name="transactions.csv" />}>
      <Filters />
      <NewEntries />
      <PagedTable
        paged={{ ...paged, items: rows }}
        label="Ledger entries"
        columns={columns}
        keyOf={([{ id }]) => id}
        filtered={isFiltered && ["No entry matches these filters.", "/wallet", "Show all entries"]}
        empty="Every movement of money will be here, with the balance after it."
        hint="The first entry is a top-up."
      />
      <p className="mt-3 text-small text-muted">
        Entries are never changed. A run is one row. Its hold and its release move money between available and held, so
        the balance changes by its charge only.
      </p>
    </Panel>
  )
}
