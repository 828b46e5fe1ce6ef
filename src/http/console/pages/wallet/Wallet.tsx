/** The wallet: what there is to spend, paying in, the ledger, and the proof that both add up. */
import { TriangleAlert } from "lucide-react"

import { type AnswerOf, api, queries, useRead } from "../../data/api.ts"
import { exactDollars } from "../../data/money.ts"
import { useDenied, useService } from "../../data/session.ts"
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { useWallet } from "../../frame/Balance.tsx"
import { Figure } from "../../lists/Facts.tsx"
import { ButtonLink, Loaded, LoadedPanel, Page, Panel, Skeleton } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"
import { TopUp } from "../home/TopUp.tsx"
import { Audit } from "./Audit.tsx"
import { Downloads } from "./Downloads.tsx"
import { Ledger } from "./Ledger.tsx"

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
    title="Wallet"
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
