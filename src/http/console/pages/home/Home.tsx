/** Home: what there is to spend, what was spent, what needs attention, and the first steps of a new organization. */
import { useSession } from "../../data/session.ts"
import { Figure, Meter } from "../../lists/Facts.tsx"
import { useGuard, useWallet } from "../../frame/Balance.tsx"
import { Loaded, Page, Skeleton } from "../../parts/Page.tsx"
import { Cents, Time } from "../../parts/Values.tsx"
import { Attention } from "./Attention.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { Latest } from "./Latest.tsx"
import UsageChart from "./UsageChart.tsx"

const Today = () => (
  <Loaded query={useGuard()} skeleton={<Skeleton lines={2} />}>
    {({ spent_today, daily_limit, resets_at, time_zone }) => (
      <Figure title={`Spent today (${time_zone})`} value={<Cents amount={spent_today} />}>
        {daily_limit === null ? (
          "No daily limit is set."
        ) : (
          <>
            of <Cents amount={daily_limit} /> · resets <Time at={resets_at} />
            <div className="mt-2">
              <Meter spent={spent_today} limit={daily_limit} label="Part of the daily limit that is spent" />
            </div>
          </>
        )}
      </Figure>
    )}
  </Loaded>
)

const Figures = () => (
  <div className="grid grid-cols-2 gap-4 sm:grid-cols-3 max-sm:[&>:last-child]:col-span-2">
    <Loaded query={useWallet()} skeleton={<Skeleton lines={2} />}>
      {({ available, balance, reserved }) => (
        <>
          <Figure title="Available" value={<Cents amount={available} />}>
            of a balance of <Cents amount={balance} />
          </Figure>
          <Figure title="Held" value={<Cents amount={reserved} />}>
            by runs and allowances that have not ended
          </Figure>
        </>
      )}
    </Loaded>
    <Today />
  </div>
)

const Home = () => {
  const session = useSession()
  return (
    <Page title="Home" lead={session?.organization.name}>
      <FirstSteps />
      <Attention />
      <Figures />
      <UsageChart />
      <Latest />
    </Page>
  )
}

export default Home
