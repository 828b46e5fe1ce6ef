/** The operator's first page: what waits, what failed, and whether the books added up the last time. */
import { useQuery } from "@tanstack/react-query"
import { api } from "../../data/api.ts"
import { counted } from "../../data/words.ts"
import { TextLink } from "../../parts/Link.tsx"
import { Loaded, PageHead, Panel } from "../../parts/Page.tsx"
import { Time } from "../../parts/Values.tsx"
import { backlogSecondsMax, oldestOf, secondsText, useQueues } from "./useQueues.ts"
import { Verdict } from "./Verdict.tsx"

const providersMillis = 15_000

const QueuesPanel = () => (
  <Panel title="Queues" actions={<TextLink to="/operator/queues">Show queues</TextLink>}>
    <Loaded query={useQueues()}>
      {(queues) => {
        const oldest = oldestOf(queues)
        return (
          <div className="space-y-2">
            <Verdict good={(oldest ?? 0) <= backlogSecondsMax}>
              {oldest === null ? "No command waits." : `The oldest command has waited ${secondsText(oldest)}.`}
            </Verdict>
            <Verdict good={queues.dead_letters === 0}>
              {queues.dead_letters === 0
                ? "No command is dead-lettered."
                : `${queues.dead_letters} ${queues.dead_letters === 1 ? "command is" : "commands are"} dead-lettered.`}
            </Verdict>
            <p className="text-muted">
              Open runs:{" "}
              {queues.runs.length === 0 ? "none" : queues.runs.map(({ state, runs }) => `${runs} ${state}`).join(", ")}
            </p>
          </div>
        )
      }}
    </Loaded>
  </Panel>
)

const BooksPanel = () => {
  const books = useQuery({ queryKey: ["operator", "books"], queryFn: () => api.operatorBooks.get({}) })
  return (
    <Panel title="Books" actions={<TextLink to="/operator/books">Show books</TextLink>}>
      <Loaded query={books}>
        {({ checks: [last], suspended }) => (
          <div className="space-y-2">
            {last === undefined ? (
              <p className="text-muted">No audit of all wallets was recorded yet.</p>
            ) : (
              <Verdict good={last.violations === 0}>
                {last.violations === 0
                  ? "The books added up"
                  : `${counted(last.violations, "violation")} ${last.violations === 1 ? "was" : "were"} found`}{" "}
                <Time at={last.checked_at} />, in {counted(last.wallets, "wallet")}.
              </Verdict>
            )}
            {suspended.map(({ org_id, organization, since }) => (
              <Verdict key={org_id} good={false}>
                The wallet of <TextLink to={`/operator/organizations/${org_id}`}>{organization}</TextLink> was suspended{" "}
                <Time at={since} />.
              </Verdict>
            ))}
          </div>
        )}
      </Loaded>
    </Panel>
  )
}

/** Providers that this process leaves alone, or whose calls fail. */
const ProvidersPanel = () => {
  const state = useQuery({
    queryKey: ["operator", "providers"],
    queryFn: () => api.operatorProviders.list({}),
    refetchInterval: providersMillis
  })
  return (
    <Panel title="Providers" actions={<TextLink to="/operator/providers">Show providers</TextLink>}>
      <Loaded query={state}>
        {({ providers, paused, cost_drifts }) => {
          const failing = providers.filter(({ configured, health }) => configured && health.status === "outage")
          const stuck = [...new Set([...paused, ...failing].map(({ provider }) => provider))]
          return (
            <div className="space-y-2">
              <Verdict good={stuck.length === 0}>
                {stuck.length === 0 ? "No provider is stuck." : `Stuck: ${stuck.join(", ")}.`}
              </Verdict>
              <Verdict good={cost_drifts.length === 0}>
                {cost_drifts.length === 0
                  ? "Every offer costs what its rate says."
                  : `${cost_drifts.length} ${cost_drifts.length === 1 ? "offer costs" : "offers cost"} more than the rate.`}
              </Verdict>
            </div>
          )
        }}
      </Loaded>
    </Panel>
  )
}

const Overview = () => (
  <>
    <PageHead title="Overview" />
    <div className="grid grid-cols-1 gap-6 md:grid-cols-2">
      <QueuesPanel />
      <BooksPanel />
      <ProvidersPanel />
    </div>
  </>
)

export default Overview
