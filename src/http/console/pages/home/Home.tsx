/** Home: what there is to spend, what was spent, what needs attention, and the first steps of a new organization. */
import { TriangleAlert } from "lucide-react"
import type { ReactNode } from "react"
import { api, useRead } from "../../data/api.ts"
import { exactDollars, isLess } from "../../data/money.ts"
import { useSession } from "../../data/session.ts"
import { present, utcDay } from "../../data/time.ts"
import { useGuard, useWallet } from "../../frame/Balance.tsx"
import { Figure, Meter } from "../../lists/Facts.tsx"
import { Loaded, Page, Panel, Skeleton, TextLink } from "../../parts/Page.tsx"
import { Cents, Time } from "../../parts/Values.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { Latest } from "./Latest.tsx"
import UsageChart from "./UsageChart.tsx"

/** A capability or an endpoint fails if more than half of at least so many runs did. */
const failingRunsMin = 5
const failingShare = 0.5

const useBlocked = (enabled: boolean) => {
  const from = utcDay(present(), 1)
  return useRead(["runs", "blocked", from], () => api.runs.list({ query: { status: "blocked", from, limit: 50 } }), {
    enabled,
    staleTime: 30_000
  })
}

const useFailing = (enabled: boolean) => {
  const from = utcDay(present(), 1)
  const usage = useRead(
    ["usage", "failing", from],
    () => api.usage.get({ query: { group_by: "capability,endpoint", from, limit: 200 } }),
    { enabled, staleTime: 60_000 }
  )
  const failing = (usage.data?.items ?? []).flatMap(({ capability = null, endpoint = null, runs, failed }) => {
    const [field, name] = capability === null ? ["endpoint", endpoint] : ["capability", capability]
    return name !== null && runs >= failingRunsMin && failed / runs > failingShare
      ? [{ field, name, runs, failed }]
      : []
  })
  return { failing, error: usage.error }
}

/** What could not be read, so that no news is not taken for good news. */
const unreadWords = (parts: Readonly<Record<string, Error | null>>): string | false => {
  const unread = Object.entries(parts).flatMap(([words, error]) => (error === null ? [] : [words]))
  return unread.length > 0 && `Could not be read, so it may need attention too: ${unread.join(", ")}.`
}

/** False for what needs no attention. */
const useNotes = (): ReadonlyArray<ReactNode> => {
  const { data: wallet, isPending } = useWallet()
  // After the figures that everybody came for: a browser sends six requests at once, and one of them is the stream of events.
  const enabled = !isPending
  const guard = useGuard().data
  const topups = useRead(["topups"], () => api.topups.autoTopup({}), { enabled, staleTime: 30_000 })
  const topup = topups.data
  const blockedRuns = useBlocked(enabled)
  const blocked = blockedRuns.data?.items ?? []
  const { failing, error: failingError } = useFailing(enabled)
  const low = guard?.low_balance ?? null
  return [
    (topup?.last_error ?? null) !== null && (
      <>
        The last automatic top-up failed: {topup?.last_error} <TextLink to="/wallet">Open the wallet</TextLink>
      </>
    ),
    wallet !== undefined && low !== null && isLess(wallet.available, low) && (
      <>
        The available balance is below {exactDollars(low)}, the amount that you set.{" "}
        <TextLink to="/wallet">Top up</TextLink>
      </>
    ),
    blocked.length > 0 && (
      <>
        {blocked.length === 50 ? "50 or more" : blocked.length} {blocked.length === 1 ? "run was" : "runs were"} blocked
        by a limit since yesterday. <TextLink to="/activity?status=blocked">Show blocked runs</TextLink>
      </>
    ),
    ...failing.map(({ field, name, runs, failed }) => (
      <>
        {name}: {failed} of {runs} runs failed since yesterday.{" "}
        <TextLink to={`/activity?${field}=${encodeURIComponent(name)}&status=failed`}>Show failed runs</TextLink>
      </>
    )),
    unreadWords({
      "the automatic top-up": topups.error,
      "blocked runs": blockedRuns.error,
      "failing runs": failingError
    })
  ]
}

/** Nothing is shown if there is nothing to look at. */
const Attention = () => {
  const notes = useNotes().filter((one) => one !== false)
  if (notes.length === 0) return null
  return (
    <Panel title="Needs attention">
      <ul className="space-y-2">
        {notes.map((text, index) => (
          <li key={index} className="flex items-start gap-2">
            <TriangleAlert size={16} aria-hidden="true" className="mt-0.5 shrink-0 text-amber" />
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

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
    <Page lead={session?.organization.name}>
      <FirstSteps />
      <Attention />
      <Figures />
      <UsageChart />
      <Latest />
    </Page>
  )
}

export default Home
