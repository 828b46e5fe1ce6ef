/** What an organization has: its runs, the newest entries of its ledger, payments, API keys, and people. */
import { api } from "../../../data/api.ts"
import { columnsOf } from "../../../lists/nouns.tsx"
import { Time } from "../../../parts/Values.tsx"
import { RemoveFactors } from "../../members/MemberActions.tsx"
import { Ask, type OfDetail, paymentCells, TablePanel } from "../parts.tsx"
import { Runs } from "./Runs.tsx"

const Revoke = ({ detail: { name }, apiKey }: OfDetail & { readonly apiKey: OfDetail["detail"]["keys"][number] }) => (
  <Ask
    send={() => api.operatorOrganizations.revokeKey({ params: { key_id: apiKey.id } })}
    says="The key is revoked."
    word="Revoke…"
    label={`Revoke… ${apiKey.name}`}
    look="danger"
    title={`Revoke ${apiKey.display}?`}
    confirm="Revoke the key"
  >
    <p>
      The key "{apiKey.name}" is of {name}. Calls with it fail at once, and it can't be restored.
    </p>
  </Ask>
)

export const OrganizationLists = ({ detail }: OfDetail) => (
  <>
    <TablePanel
      title="Open runs"
      label="Open runs, oldest first"
      rows={detail.open_runs}
      none="No run is open."
      columns={columnsOf("OpenRun")}
    />
    <Runs key={detail.org_id} org_id={detail.org_id} name={detail.name} />
    <TablePanel
      title="Ledger"
      label="Newest entries of the ledger"
      rows={detail.entries}
      none="Nothing was booked yet."
      columns={columnsOf("Transaction", {
        type: ({ type }) => type,
        reference: ({ reference }) => <code className="block min-w-40 font-mono break-all">{reference}</code>
      })}
    />
    <TablePanel
      title="Payments"
      label="Newest payments"
      rows={detail.payments}
      keyOf={({ payment_id }) => payment_id}
      none="No payment was made yet."
      columns={columnsOf("Payment", paymentCells)}
    />
    <TablePanel
      title="API keys"
      rows={detail.keys}
      none="No key was made yet."
      columns={columnsOf("KeyOfOrganization", {
        revoked_at: (key) =>
          key.revoked_at === null ? (
            <Revoke detail={detail} apiKey={key} />
          ) : (
            <span className="text-muted">
              revoked <Time at={key.revoked_at} />
            </span>
          )
      })}
    />
    <TablePanel
      title="People"
      rows={detail.people}
      none="Nobody is a member."
      columns={columnsOf("Person", {
        email: ({ id, email }) => (
          <div className="flex flex-wrap items-center justify-between gap-2">
            <span className="min-w-28 wrap-anywhere">{email}</span>
            <RemoveFactors
              email={email}
              send={() => api.operatorOrganizations.removeFactors({ params: { user_id: id } })}
            />
          </div>
        )
      })}
    />
  </>
)
