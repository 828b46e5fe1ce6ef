/** What an organization has: open runs, the newest entries of its ledger, payments, and people. */
import type { AnswerOf } from "../../../../client/Browser.ts"
import { Id } from "../../../parts/Copy.tsx"
import { Money, Status, Time } from "../../../parts/Values.tsx"
import { TablePanel } from "../SmallTable.tsx"

interface Of {
  readonly detail: AnswerOf<"operatorOrganizations", "get">
}

export const OpenRuns = ({ detail }: Of) => (
  <TablePanel
    title="Open runs"
    label="Open runs, oldest first"
    rows={detail.open_runs}
    keyOf={({ run_id }) => run_id}
    none="No run is open."
    columns={[
      {
        title: "Run",
        cell: ({ run_id }) => <Id id={run_id} what="the run's id" />
      },
      { title: "Of", cell: ({ capability, endpoint }) => capability ?? endpoint ?? "" },
      { title: "Status", cell: ({ status }) => <Status status={status} /> },
      { title: "Since", cell: ({ since }) => <Time at={since} /> },
      { title: "Held", cell: ({ hold }) => <Money amount={hold} />, align: "right" }
    ]}
  />
)

export const Ledger = ({ detail }: Of) => (
  <TablePanel
    title="Ledger"
    label="Newest entries of the ledger"
    rows={detail.entries}
    keyOf={({ id }) => id}
    none="Nothing was booked yet."
    columns={[
      { title: "When", cell: ({ created_at }) => <Time at={created_at} /> },
      { title: "Type", cell: ({ type }) => type },
      { title: "Amount", cell: ({ amount }) => <Money amount={amount} />, align: "right" },
      { title: "Balance after", cell: ({ balance_after }) => <Money amount={balance_after} />, align: "right" },
      {
        title: "Reference",
        cell: ({ reference }) => <code className="block min-w-40 font-mono break-all">{reference}</code>
      },
      { title: "Note", cell: ({ note }) => note ?? "" }
    ]}
  />
)

export const Payments = ({ detail }: Of) => (
  <TablePanel
    title="Payments"
    label="Newest payments"
    rows={detail.payments}
    keyOf={({ payment_id }) => payment_id}
    none="No payment was made yet."
    columns={[
      { title: "When", cell: ({ created_at }) => <Time at={created_at} /> },
      { title: "Kind", cell: ({ kind }) => kind },
      { title: "State", cell: ({ state, failure }) => (failure === null ? state : `${state}: ${failure}`) },
      { title: "Amount", cell: ({ amount }) => <Money amount={amount} />, align: "right" },
      { title: "Taken back", cell: ({ clawed_back }) => <Money amount={clawed_back} />, align: "right" },
      {
        title: "At the processor",
        cell: ({ session_id, payment_intent, payment_id }) => (
          <Id id={session_id ?? payment_intent ?? payment_id} what="the payment's id" />
        )
      }
    ]}
  />
)

const verifications = {
  pending: "not verified",
  not_asked: "verification was off",
  verified: "verified"
} as const

export const People = ({ detail }: Of) => (
  <TablePanel
    title="People"
    label="People"
    rows={detail.people}
    keyOf={({ id }) => id}
    none="Nobody is a member."
    columns={[
      { title: "E-mail address", cell: ({ email }) => <span className="block min-w-40 wrap-anywhere">{email}</span> },
      { title: "Address", cell: ({ verification }) => verifications[verification] },
      { title: "Role", cell: ({ role }) => role },
      { title: "Joined", cell: ({ created_at }) => <Time at={created_at} /> }
    ]}
  />
)
