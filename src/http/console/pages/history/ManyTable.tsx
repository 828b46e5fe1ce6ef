/** One row for each subject of a list. */
import { columnsOf } from "../../lists/nouns.tsx"
import { RowLink, TextLink } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { Money, Time } from "../../parts/Values.tsx"
import { kindWord, type Row } from "./useHistory.ts"

const addressOf = ({ query, kind }: Row) =>
  `/history?${new URLSearchParams({ q: query, ...(kind === null ? {} : { kind }) })}`

const Contacted = ({ row: { contacted, last_contact, last_unknown } }: { readonly row: Row }) => {
  if (contacted && last_contact !== null)
    return (
      <span className="text-amber">
        yes, <TextLink to={`/runs/${last_contact.run_id}`}>{last_contact.channel}</TextLink>,{" "}
        <Time at={last_contact.created_at} />
      </span>
    )
  if (last_unknown !== undefined)
    return (
      <span className="text-violet">
        perhaps, <TextLink to={`/runs/${last_unknown.run_id}`}>outcome unknown</TextLink>
      </span>
    )
  return "no"
}

const columns = columnsOf("HistoryRow", {
  query: (row) => (
    <>
      <RowLink to={addressOf(row)} className="wrap-anywhere">
        {row.query}
      </RowLink>
      {row.error !== undefined && <span className="block break-words text-red">{row.error.message}</span>}
    </>
  ),
  kind: ({ kind }) => (kind === null ? "" : kindWord(kind)),
  count: ({ count, error }) => (error === undefined ? count.toLocaleString("en") : ""),
  contacted: (row) => (row.error === undefined ? <Contacted row={row} /> : ""),
  reusable: ({ reusable }) =>
    reusable === null ? (
      ""
    ) : (
      <>
        <TextLink to={`/runs/${reusable.run_id}`}>{reusable.capability ?? reusable.endpoint ?? "a result"}</TextLink>{" "}
        <Money amount={reusable.charged} />
      </>
    )
})

export const ManyTable = ({ items }: { readonly items: ReadonlyArray<Row> }) => (
  <DataTable label="Subjects" rows={items} columns={columns} keyOf={({ query }) => query} toOf={addressOf} />
)
