/** The ledger entries of a run, oldest first, with the balance after each. */
import { wordOf } from "../../lists/nouns.tsx"
import { Id, Money, Time } from "../../parts/Values.tsx"
import { Empty, Loaded, TextLink } from "../../parts/Page.tsx"
import { type Column, DataTable } from "../../parts/Table.tsx"
import type { Details, useDetails } from "./useRun.ts"

type Entry = Details["ledger"][number]

const columns: ReadonlyArray<Column<Entry>> = [
  { title: "Number", cell: ({ seq }) => seq, align: "right" },
  { title: "Entry", cell: ({ type }) => wordOf("Transaction", "type", type) },
  { title: "Amount", cell: ({ amount }) => <Money amount={amount} />, align: "right" },
  { title: "Balance after", cell: ({ balance_after }) => <Money amount={balance_after} />, align: "right" },
  {
    title: "Held after",
    cell: ({ reserved_after }) => <Money amount={reserved_after} />,
    align: "right",
    wide: true
  },
  { title: "When", cell: ({ created_at }) => <Time at={created_at} />, align: "right" },
  { title: "Id", cell: ({ id }) => <Id id={id} what="the entry's id" />, wide: true }
]

export const LedgerTab = ({ query }: { readonly query: ReturnType<typeof useDetails> }) => (
  <Loaded query={query}>
    {({ ledger }) => (
      <DataTable
        label="Ledger entries of the run"
        rows={ledger}
        columns={columns}
        empty={
          <Empty title="No ledger entries">
            <p className="text-muted">
              This run has moved no money. Other entries are in the <TextLink to="/wallet">wallet</TextLink>.
            </p>
          </Empty>
        }
      />
    )}
  </Loaded>
)
