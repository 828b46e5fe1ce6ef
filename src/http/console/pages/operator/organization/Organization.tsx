/** One organization as the operator sees it: wallet, limits, people, keys, payments, ledger and open runs. */
import { api, useRead } from "../../../data/api.ts"
import { useParam } from "../../../data/address.ts"
import { exactDollars } from "../../../data/money.ts"
import { counted } from "../../../../client/Words.ts"
import { Facts } from "../../../lists/Facts.tsx"
import { columnsOf } from "../../../lists/nouns.tsx"
import { Badge, Id, Money, Time } from "../../../parts/Values.tsx"
import { LoadedPage, LoadedPanel, Page, Panel, TextLink } from "../../../parts/Page.tsx"
import { Ask, type OfDetail, paymentCells, TablePanel, Verdict } from "../parts.tsx"
import { RemoveFactors } from "../../members/MemberActions.tsx"
import { Credit, Guard, Suspension } from "./WalletChanges.tsx"
import { Runs } from "./Runs.tsx"

const Wallet = ({ detail }: OfDetail) => (
  <Panel title="Wallet">
    <Facts
      facts={[
        ["Available", <Money amount={detail.available} />],
        ["Balance", <Money amount={detail.balance} />],
        ["Reserved by open runs", <Money amount={detail.reserved} />],
        [
          "Today",
          <>
            {detail.runs_today} runs, <Money amount={detail.charged_today} />
          </>
        ],
        [
          "Automatic top-up",
          detail.auto_topup === null
            ? "never set"
            : `${detail.auto_topup.enabled ? "on" : "off"}: ${exactDollars(detail.auto_topup.amount)} below ${exactDollars(detail.auto_topup.threshold)}`
        ],
        [
          "Losses",
          <>
            <Money amount={detail.losses.loss} /> in {detail.losses.runs} runs
          </>
        ],
        ["Unknown outcomes", detail.unknown_outcomes]
      ]}
    />
    {detail.auto_topup !== null && detail.auto_topup.last_error !== null && (
      <div className="mt-3">
        <Verdict good={false}>The last automatic top-up failed: {detail.auto_topup.last_error}</Verdict>
      </div>
    )}
  </Panel>
)

const Books = ({ org_id }: { readonly org_id: string }) => {
  const audit = useRead(
    ["operator", "organization", org_id, "audit"],
    () => api.operatorOrganizations.audit({ params: { org_id } }),
    { staleTime: 30_000 }
  )
  return (
    <LoadedPanel title="Books" query={audit}>
      {({ adds_up, entries, violations, checked_at }) => (
        <div className="space-y-2">
          <Verdict good={adds_up}>
            {adds_up ? "This wallet adds up" : "This wallet does not add up"}:{" "}
            {counted(entries, "ledger entry", "ledger entries")}, recomputed <Time at={checked_at} />.
          </Verdict>
          <ul className="ml-6 list-disc space-y-1 text-small break-words">
            {violations.map(({ equation, subject, detail }) => (
              <li key={`${equation} ${subject}`}>
                {equation}: <span className="font-mono">{subject}</span>: {detail}
              </li>
            ))}
          </ul>
        </div>
      )}
    </LoadedPanel>
  )
}

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

const Lists = ({ detail }: OfDetail) => (
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

const Organization = () => {
  const org_id = useParam("org_id")
  const organization = useRead(["operator", "organization", org_id], () =>
    api.operatorOrganizations.get({ params: { org_id } })
  )
  return (
    <LoadedPage query={organization}>
      {(detail) => (
        <Page
          title={detail.name}
          lead={
            <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
              {detail.suspension !== null && <Badge tone="red">suspended</Badge>}
              <TextLink to="/operator/organizations">All organizations</TextLink>
              <Id id={org_id} what="the organization's id" />
              <span>
                created <Time at={detail.created_at} />
              </span>
            </span>
          }
        >
          <div className="grid grid-cols-1 gap-6 lg:grid-cols-2">
            <Suspension detail={detail} />
            <Wallet detail={detail} />
            <Books org_id={org_id} />
            <Credit detail={detail} />
            <Guard detail={detail} />
            <div className="grid grid-cols-1 gap-6 lg:col-span-2">
              <Lists detail={detail} />
            </div>
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}

export default Organization
