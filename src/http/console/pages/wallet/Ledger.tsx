/** The ledger, newest first, with the balance after each entry. Its filters live in the address. */
import { useCallback, useMemo, useState } from "react"
import type { AnswerOf } from "../../../client/Browser.ts"
import { type Search, setOnly, useFilters } from "../../data/address.ts"
import { api, queries } from "../../data/api.ts"
import { type LiveEvent, useLive } from "../../data/live.ts"
import { Export } from "../../lists/Export.tsx"
import { FilterSelect, Period } from "../../lists/Filters.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { SearchBox } from "../../lists/SearchBox.tsx"
import { Button } from "../../parts/Button.tsx"
import { Id } from "../../parts/Copy.tsx"
import { Link, RowLink, TextLink } from "../../parts/Link.tsx"
import { Empty, Panel } from "../../parts/Page.tsx"
import type { Column } from "../../parts/Table.tsx"
import { Money, Time } from "../../parts/Values.tsx"
import { Receipt } from "./Downloads.tsx"

type Entry = AnswerOf<"wallet", "transactions">["items"][number]
type EntryType = Entry["type"]

const types: ReadonlyArray<readonly [EntryType, string]> = [
  ["topup", "top-up"],
  ["bonus", "bonus"],
  ["refund", "refund"],
  ["settle", "charge"],
  ["reserve", "hold"],
  ["release", "release"]
]
const wordOf = (type: EntryType) => types.find(([one]) => one === type)?.[1] ?? type

const isRun = (reference: string) => /^run_[0-9a-z]{6,40}$/.test(reference)

const columns: ReadonlyArray<Column<Entry>> = [
  { title: "When", cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: "Entry",
    // On narrow screens it is the only way to the run.
    cell: ({ type, reference }) =>
      isRun(reference) ? (
        <RowLink to={`/runs/${reference}`} title={reference}>
          {wordOf(type)}
        </RowLink>
      ) : (
        <span className="font-medium">{wordOf(type)}</span>
      )
  },
  {
    title: "For",
    wide: true,
    cell: ({ reference, note, type }) => (
      <>
        {isRun(reference) ? (
          <span className="inline-flex flex-wrap items-center gap-x-2">
            <Link to={`/runs/${reference}`} className="font-mono hover:underline">
              {reference}
            </Link>
            {type === "settle" && <Receipt run_id={reference} />}
          </span>
        ) : (
          <Id id={reference} what="the reference" />
        )}
        {note !== null && <span className="block break-words text-muted">{note}</span>}
      </>
    )
  },
  { title: "Amount", cell: ({ amount }) => <Money amount={amount} />, align: "right" },
  { title: "Balance", cell: ({ balance_after }) => <Money amount={balance_after} />, align: "right" }
]

/** The filters of the address as the API takes them. */
const queryOf = (search: Search) => {
  const { from = "", to = "", run = "" } = search
  const type = types.find(([one]) => one === search["type"])?.[0]
  return {
    ...(type === undefined ? {} : { type }),
    ...setOnly({ run_id: run, from, to })
  }
}

const Filters = () => {
  const [search, change] = useFilters()
  return (
    <div className="mb-4 flex flex-wrap items-start gap-2">
      <FilterSelect
        name="type"
        label="Type of entry"
        options={[["", "All entries"], ...types.map(([type, word]) => [type, `Only: ${word}`] as const)]}
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
  useLive(
    useCallback(({ type }: LiveEvent) => {
      if (type === "wallet.changed") setHasNew(true)
    }, [])
  )
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
  const paged = usePaged(["ledger", query], (from) =>
    api.wallet.transactions({ query: { limit: 50, ...query, ...from } })
  )
  const isFiltered = Object.keys(query).length > 0
  return (
    <Panel title="Ledger" actions={<Export path="/v1/wallet/transactions" query={query} name="transactions.csv" />}>
      <Filters />
      <NewEntries />
      <PagedTable
        paged={paged}
        label="Ledger entries"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty title="No entry matches these filters.">
              <TextLink to="/wallet">Show all entries</TextLink>
            </Empty>
          ) : (
            <Empty title="Every movement of money will be here, with the balance after it.">
              <p className="text-muted">The first entry is a top-up.</p>
            </Empty>
          )
        }
      />
      <p className="mt-3 text-small text-muted">
        Entries are never changed. Holds and releases move money between available and held, so the balance stays.
      </p>
    </Panel>
  )
}
