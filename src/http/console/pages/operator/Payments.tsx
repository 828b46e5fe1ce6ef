/** Payments of all organizations, and events of the payment processor that did not fit. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { useFilters } from "../../data/address.ts"
import { FilterSelect } from "../../lists/Filters.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { LoadedPanel, Page, TextLink } from "../../parts/Page.tsx"
import { paymentCells, SmallTable, Verdict } from "./parts.tsx"

type Payment = AnswerOf<"operatorPayments", "list">["items"][number]

const states = ["open", "paid", "failed", "expired"] as const

const organizationPath = ({ org_id }: Payment) => `/operator/organizations/${org_id}`

const columns = columnsOf("OperatorPayment", {
  ...paymentCells,
  organization: (row) => <TextLink to={organizationPath(row)}>{row.organization}</TextLink>
})
const mismatchColumns = columnsOf("PaymentMismatch", {
  org_id: ({ org_id }) => <TextLink to={`/operator/organizations/${org_id}`}>{org_id}</TextLink>
})

const Mismatches = () => (
  <LoadedPanel
    title="Events that did not fit"
    query={useRead(["operator", "mismatches"], () => api.operatorPayments.mismatches({}))}
  >
    {({ items }) =>
      items.length === 0 ? (
        <Verdict good>Every event of the payment processor fitted its payment.</Verdict>
      ) : (
        <>
          <p className="mb-3 text-muted">
            Amount, currency or organization differ from the stored payment, so nothing was booked. Compare with the
            processor: <code>rungate audit</code>.
          </p>
          <SmallTable label="Events that did not fit" rows={items} none="" columns={mismatchColumns} />
        </>
      )
    }
  </LoadedPanel>
)

const Payments = () => {
  const [search] = useFilters()
  const state = states.find((one) => one === search["state"])
  const paged = usePaged(
    ["operator", "payments", state ?? ""],
    (from) => api.operatorPayments.list({ query: { ...(state === undefined ? {} : { state }), ...from } }),
    { pageSize: 100 }
  )
  return (
    <Page>
      <Mismatches />
      <div>
        <FilterSelect name="state" label="State" any="Any state" options={states} className="mb-4 max-w-44" />
        <PagedTable
          paged={paged}
          label="Payments"
          columns={columns}
          toOf={organizationPath}
          empty={state === undefined ? "Payments will be here, newest first." : `No payment is ${state}.`}
          hint="A checkout or an automatic top-up makes one."
        />
      </div>
    </Page>
  )
}

export default Payments
