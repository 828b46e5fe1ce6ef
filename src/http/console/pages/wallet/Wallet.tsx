/** The wallet: what there is to spend, paying in, the ledger, and the proof that both add up. */
import { CircleCheck, CircleX, TriangleAlert } from "lucide-react"
import { counted } from "../../../client/Words.ts"
import { type AnswerOf, api, queries, useRead } from "../../data/api.ts"
import { exactDollars } from "../../data/money.ts"
import { useDenied, useService } from "../../data/session.ts"
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { useWallet } from "../../frame/Balance.tsx"
import { Bullets, Figure } from "../../lists/Facts.tsx"
import { Button, ButtonLink, Failed, Loaded, LoadedPanel, Page, Panel, Skeleton } from "../../parts/Page.tsx"
import { Id, Money, Time } from "../../parts/Values.tsx"
import { TopUp } from "../home/TopUp.tsx"
import { Downloads } from "./Downloads.tsx"
import { Ledger } from "./Ledger.tsx"

type Audited = AnswerOf<"wallet", "audit">
type Line = readonly [words: string, amount: string, isTotal: boolean]

const balanceLines = ({ sums, balance_from_ledger, balance }: Audited): ReadonlyArray<Line> => [
  ["Top-ups", sums.topup, false],
  ["Bonuses", sums.bonus, false],
  ["Refunds", sums.refund, false],
  ["Charges", sums.settle, false],
  ["Balance by the ledger", balance_from_ledger, true],
  ["Balance of the wallet", balance, true]
]

/** Charges are negative, and each of them ends a hold: so holds and releases beside them leave what is still held. */
const holdLines = ({ sums, reserved_from_ledger, reserved }: Audited): ReadonlyArray<Line> => [
  ["Charges", sums.settle, false],
  ["Holds, subtracted", sums.reserve, false],
  ["Releases, subtracted", sums.release, false],
  ["Held by the ledger", reserved_from_ledger, true],
  ["Held in the wallet", reserved, true]
]

const Sums = ({ caption, lines }: { readonly caption: string; readonly lines: ReadonlyArray<Line> }) => (
  <table className="w-full text-small">
    <caption className="mb-1 text-left font-medium">{caption}</caption>
    <tbody>
      {lines.map(([words, amount, isTotal]) => (
        <tr key={words} className={isTotal ? "border-t border-line font-semibold" : ""}>
          <th scope="row" className={`py-1 text-left ${isTotal ? "" : "font-normal text-muted"}`}>
            {words}
          </th>
          <td className="py-1 text-right">
            <Money amount={amount} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const Verdict = ({ audited }: { readonly audited: Audited }) => {
  const Shape = audited.adds_up ? CircleCheck : CircleX
  return (
    <p
      role="status"
      className={`flex items-center gap-2 text-title font-semibold ${audited.adds_up ? "text-green" : "text-red"}`}
    >
      <Shape size={20} aria-hidden="true" className="shrink-0" />
      {audited.adds_up ? "Your books add up" : "Your books do not add up"}
    </p>
  )
}

const Proof = ({ audited }: { readonly audited: Audited }) => {
  const { entries, checked_at, chain_verified, violations, head, last_full_check } = audited
  return (
    <div className="space-y-4">
      <Verdict audited={audited} />
      <p className="text-muted">
        {counted(entries, "entry was", "entries were")} added up <Time at={checked_at} />.{" "}
        {chain_verified
          ? "All hashes were computed again, and match."
          : "The hashes of the entries do not match. Report this to the operator of the service."}
        {last_full_check !== null && (
          <>
            {" "}
            The operator's audit of all wallets {last_full_check.adds_up ? "added up" : "did not add up"}{" "}
            <Time at={last_full_check.checked_at} />.
          </>
        )}
      </p>
      {violations.length > 0 && (
        <Bullets
          items={violations.map((one) => `${one.equation}, ${one.subject}: ${one.detail} (in millionths of a dollar)`)}
          className="pl-5 text-red"
        />
      )}
      <details>
        <summary className="font-medium">The sums</summary>
        <div className="mt-3 grid gap-6 sm:grid-cols-2">
          <Sums caption="Balance: the sum of these entries" lines={balanceLines(audited)} />
          <Sums caption="Held: charges less holds and releases" lines={holdLines(audited)} />
        </div>
      </details>
      {head !== null && (
        <p className="text-muted">
          While entry {head.seq.toLocaleString("en")} has this hash, no entry up to it was changed:{" "}
          <Id id={head.hash} what="the hash of the newest entry" />
        </p>
      )}
    </div>
  )
}

const Audit = () => {
  const audit = useRead(["audit"], () => api.wallet.audit({}), { staleTime: 60_000 })
  return (
    <Panel
      title="Audit"
      actions={
        <Button busy={audit.isFetching} onClick={() => void audit.refetch()}>
          Recompute now
        </Button>
      }
    >
      <Loaded query={audit} skeleton={<Skeleton lines={4} height={20} />}>
        {(audited) => (
          <>
            <Proof audited={audited} />
            {audit.error !== null && <Failed error={audit.error} />}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

const useAutoTopup = () => useRead(["topups"], () => api.topups.autoTopup({}), { staleTime: 30_000 })

/** A banner, because runs are refused when the balance is spent and nothing charges any more. */
const AutoTopupFailed = () => {
  const setting = useAutoTopup().data
  if (setting === undefined || setting.last_error === null) return null
  return (
    <section
      aria-label="The automatic top-up failed"
      className="flex items-start gap-2 rounded border border-red bg-red-soft p-4 text-red"
    >
      <TriangleAlert size={18} aria-hidden="true" className="mt-0.5 shrink-0" />
      <div className="min-w-0">
        <p className="font-medium">The last automatic top-up failed.</p>
        <p className="break-words">{setting.last_error}</p>
        <p className="mt-1">Top up by hand to go on. A new payment method is saved with the next checkout.</p>
      </div>
    </section>
  )
}

const form = payloadForm("topups", "setAutoTopup")
const words = {
  enabled: {
    label: "Charge the saved payment method when the balance is low",
    hint: "One charge at a time, up to the service's daily maximum, and none within an hour after a decline."
  },
  threshold: { label: "When the balance is below, in USD" },
  amount: { label: "Charge, in USD" }
}

const savedWords = ({ enabled, amount, threshold }: AnswerOf<"topups", "autoTopup">) =>
  enabled
    ? `Saved: ${exactDollars(amount)} is charged when the balance is below ${exactDollars(threshold)}.`
    : "Saved: nothing is charged automatically."

const AutoTopup = () => {
  const denied = useDenied("topups.setAutoTopup")
  return (
    <LoadedPanel title="Automatic top-up" query={useAutoTopup()}>
      {(setting) => (
        <PayloadForm
          form={form}
          words={words}
          before={setting}
          send={(payload) => api.topups.setAutoTopup({ payload })}
          says="The automatic top-up is saved."
          after={(saved) => queries.setQueryData(["topups"], saved)}
          submit="Save the automatic top-up"
          look="plain"
          denied={denied}
          saved={savedWords}
          className="space-y-4"
        />
      )}
    </LoadedPanel>
  )
}

const Balances = () => (
  <Loaded query={useWallet()} skeleton={<Skeleton lines={2} />}>
    {({ available, balance, reserved }) => (
      <div className="grid gap-4 sm:grid-cols-3">
        <Figure title="Available" value={<Money amount={available} />}>
          what new runs can hold
        </Figure>
        <Figure title="Balance" value={<Money amount={balance} />}>
          the sum of the ledger
        </Figure>
        <Figure title="Held" value={<Money amount={reserved} />}>
          by runs and allowances that have not ended
        </Figure>
      </div>
    )}
  </Loaded>
)

const PayIn = () => (
  <Panel title="Top up">
    <div className="space-y-3">
      <Loaded query={useService()}>
        {({ environment }) => (
          <>
            <TopUp primary />
            <p className="text-small text-muted">
              {environment === "test"
                ? "This is the sandbox. No money moves, and the credit is labeled as simulated."
                : "At least $10.00. The wallet is credited when the payment processor confirms the payment."}
            </p>
          </>
        )}
      </Loaded>
    </div>
  </Panel>
)

const Wallet = () => (
  <Page
    actions={
      <>
        <ButtonLink to="/usage">Usage</ButtonLink>
        <ButtonLink to="/settings/guard">Spend guard</ButtonLink>
      </>
    }
  >
    <AutoTopupFailed />
    <Balances />
    <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-2">
      <PayIn />
      <AutoTopup />
    </div>
    <Audit />
    <Ledger />
    <Downloads />
  </Page>
)

export default Wallet
