/** The operator's first page: what was earned and how runs ended, what waits, what failed, and whether the books added up the last time. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { counted } from "../../../client/Words.ts"
import { Figure } from "../../lists/Facts.tsx"
import { FilterSelect } from "../../lists/Filters.tsx"
import { Loaded, LoadedPanel, PageHead, Skeleton, TextLink } from "../../parts/Page.tsx"
import { Money, statusWord, Time } from "../../parts/Values.tsx"
import { spans, useMargins } from "./Margins.tsx"
import { backlogSecondsMax, oldestOf, secondsText, useQueues } from "./useQueues.ts"
import { Verdict } from "./parts.tsx"

const providersMillis = 15_000
/** The service reads all runs of the time, and keeps the sums for as long as that takes it. */
const marginsMillis = 60_000

const QueuesPanel = () => (
  <LoadedPanel title="Queues" actions={<TextLink to="/operator/queues">Show queues</TextLink>} query={useQueues()}>
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
              : `${counted(queues.dead_letters, "command is", "commands are")} dead-lettered.`}
          </Verdict>
          <p className="text-muted">
            Open runs:{" "}
            {queues.runs.length === 0 ? "none" : queues.runs.map(({ state, runs }) => `${runs} ${state}`).join(", ")}
          </p>
        </div>
      )
    }}
  </LoadedPanel>
)

const BooksPanel = () => (
  <LoadedPanel
    title="Books"
    actions={<TextLink to="/operator/books">Show books</TextLink>}
    query={useRead(["operator", "books"], () => api.operatorBooks.get({}))}
  >
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
  </LoadedPanel>
)

/** Providers that this process leaves alone, or whose calls fail. */
const ProvidersPanel = () => {
  const state = useRead(["operator", "providers"], () => api.operatorProviders.list({}), {
    refetchInterval: providersMillis
  })
  return (
    <LoadedPanel title="Providers" actions={<TextLink to="/operator/providers">Show providers</TextLink>} query={state}>
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
                : `${counted(cost_drifts.length, "offer costs", "offers cost")} more than the rate.`}
            </Verdict>
          </div>
        )
      }}
    </LoadedPanel>
  )
}

type Ended = AnswerOf<"operatorProviders", "margins">["ended"]
const runsIn = (ended: Ended) => ended.reduce((sum, { runs }) => sum + runs, 0)
const wordsOf = (ended: Ended) =>
  ended.map(({ runs, status }) => `${runs.toLocaleString("en")} ${statusWord(status)}`).join(", ")

/** A blocked run met a limit that its organization set. */
const noErrors = new Set(["succeeded", "no_match", "blocked", "cancelled"])
const unknownMax = 200
const Business = () => {
  const margins = useMargins("1", { refetchInterval: marginsMillis })
  const unknown = useRead(["operator", "unknown", "open"], () =>
    api.operatorOutcomes.list({ query: { resolved: "false", limit: unknownMax } })
  )
  return (
    <section aria-label="Business" className="mb-6">
      <Loaded query={margins} skeleton={<Skeleton lines={2} height={40} />}>
        {({ total, ended }) => {
          const runs = runsIn(ended)
          const errors = ended.filter(({ status }) => !noErrors.has(status))
          const failed = runsIn(errors)
          return (
            <div className="grid grid-cols-2 gap-4 lg:grid-cols-4">
              <Figure title="Revenue" value={<Money amount={total.charged} />}>
                cost <Money amount={total.cost} />, margin <Money amount={total.margin} />
                {total.margin_percent !== null && ` (${total.margin_percent} %)`}
              </Figure>
              <Figure title="Runs" value={runs.toLocaleString("en")}>
                {wordsOf(ended) || "none has ended"}
              </Figure>
              <Figure
                title="Errors"
                value={runs === 0 ? "–" : `${((failed * 100) / runs).toFixed(1)} %`}
                look={failed === 0 ? "" : "text-red"}
              >
                {wordsOf(errors) || "none"}
              </Figure>
              <Loaded query={unknown}>
                {({ items, next_cursor }) => (
                  <Figure
                    title="Unknown outcomes"
                    value={`${items.length.toLocaleString("en")}${next_cursor === null ? "" : "+"}`}
                    look={items.length === 0 ? "" : "text-violet"}
                  >
                    {items.length === 0 ? (
                      "none waits for a finding"
                    ) : (
                      <TextLink to="/operator/unknown">Record what happened</TextLink>
                    )}
                  </Figure>
                )}
              </Loaded>
            </div>
          )
        }}
      </Loaded>
    </section>
  )
}

const Overview = () => (
  <>
    <PageHead actions={<FilterSelect name="days" label="Time" options={spans} initial="1" />} />
    <Business />
    <div className="grid grid-cols-1 gap-6 md:grid-cols-2 lg:grid-cols-3">
      <QueuesPanel />
      <BooksPanel />
      <ProvidersPanel />
    </div>
  </>
)

export default Overview
