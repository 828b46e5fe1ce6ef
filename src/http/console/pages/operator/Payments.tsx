/** Payments of all organizations, and events of the payment processor that did not fit. */
import { useQuery } from "@tanstack/react-query"
import type { AnswerOf } from "../../../client/Browser.ts"
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { FilterSelect } from "../../lists/Filters.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { Id } from "../../parts/Copy.tsx"
import { TextLink } from "../../parts/Link.tsx"
import { Empty, Loaded, PageHead, Panel } from "../../parts/Page.tsx"
import type { Column } from "../../parts/Table.tsx"
import { Money, Time } from "../../parts/Values.tsx"
import { SmallTable } from "./SmallTable.tsx"
import { Verdict } from "./Verdict.tsx"

type Payment = AnswerOf<"operatorPayments", "list">["items"][number]

const pageSize = 100
const states = ["open", "paid", "failed", "expired"] as const

const organizationPath = ({ org_id }: Payment) => `/operator/organizations/${org_id}`

const columns: ReadonlyArray<Column<Payment>> = [
  { title: "When", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Organization", cell: (row) => <TextLink to={organizationPath(row)}>{row.organization}</TextLink> },
  { title: "Kind", cell: ({ kind }) => kind, wide: true },
  { title: "State", cell: ({ state, failure }) => (failure === null ? state : `${state}: ${failure}`) },
  { title: "Amount", cell: ({ amount }) => <Money amount={amount} />, align: "right" },
  { title: "Taken back", cell: ({ clawed_back }) => <Money amount={clawed_back} />, align: "right", wide: true },
  {
    title: "At the processor",
    cell: ({ session_id, payment_intent, payment_id }) => (
      <Id id={session_id ?? payment_intent ?? payment_id} what="the payment's id" />
    ),
    wide: true
  }
]

const Mismatches = () => {
  const mismatches = useQuery({
    queryKey: ["operator", "mismatches"],
    queryFn: () => api.operatorPayments.mismatches({})
  })
  return (
    <Panel title="Events that did not fit">
      <Loaded query={mismatches}>
        {({ items }) =>
          items.length === 0 ? (
            <Verdict good>Every event of the payment processor fitted its payment.</Verdict>
          ) : (
            <>
              <p className="mb-3 text-muted">
                Amount, currency or organization differ from the stored payment, so nothing was booked. Compare with the
                processor: <code>rungate audit</code>.
              </p>
              <SmallTable
                label="Events that did not fit"
                rows={items}
                keyOf={({ event_id }) => event_id}
                none=""
                columns={[
                  { title: "When", cell: ({ created_at }) => <Time at={created_at} /> },
                  { title: "Event", cell: ({ event_id }) => <Id id={event_id} what="the event's id" /> },
                  { title: "Fact", cell: ({ fact }) => fact },
                  { title: "Payment", cell: ({ payment_id }) => <Id id={payment_id} what="the payment's id" /> },
                  {
                    title: "Organization",
                    cell: ({ org_id }) => <TextLink to={`/operator/organizations/${org_id}`}>{org_id}</TextLink>
                  }
                ]}
              />
            </>
          )
        }
      </Loaded>
    </Panel>
  )
}

const List = ({ state }: { readonly state: (typeof states)[number] | undefined }) => {
  const paged = usePaged(["operator", "payments", state ?? ""], (from) =>
    api.operatorPayments.list({ query: { limit: pageSize, ...(state === undefined ? {} : { state }), ...from } })
  )
  return (
    <PagedTable
      paged={paged}
      label="Payments"
      columns={columns}
      keyOf={({ payment_id }) => payment_id}
      toOf={organizationPath}
      empty={
        <Empty title={state === undefined ? "Payments will be here, newest first." : `No payment is ${state}.`}>
          <p className="text-muted">A checkout or an automatic top-up makes one.</p>
        </Empty>
      }
    />
  )
}

const Payments = () => {
  const [search] = useFilters()
  return (
    <>
      <PageHead title="Payments" />
      <div className="grid grid-cols-1 gap-6">
        <Mismatches />
        <div>
          <FilterSelect
            name="state"
            label="State"
            options={[["", "Any state"], ...states.map((one) => [one, one] as const)]}
            className="mb-4 max-w-44"
          />
          <List state={states.find((one) => one === search["state"])} />
        </div>
      </div>
    </>
  )
}

export default Payments
