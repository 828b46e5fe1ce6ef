/** The wallet: what there is to spend, paying in, the ledger, and the proof that both add up. */
import { useService } from "../../data/session.ts"
import { useWallet } from "../../frame/Balance.tsx"
import { Figure } from "../../lists/Facts.tsx"
import { ButtonLink, Loaded, Page, Panel, Skeleton } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"
import { TopUp } from "../home/TopUp.tsx"
import { Audit } from "./Audit.tsx"
import { AutoTopup, AutoTopupFailed } from "./AutoTopup.tsx"
import { Downloads } from "./Downloads.tsx"
import { Ledger } from "./Ledger.tsx"

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
            <TopUp environment={environment} primary />
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
