/** Providers: which need attention first, then accounts, checks, health, and what they earn. */
import type { ReactNode } from "react"
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { exactDollars } from "../../data/money.ts"
import { counted } from "../../../client/Words.ts"
import { CodeBlock, Id, Time } from "../../parts/Values.tsx"
import { Loaded, Page, Panel, Skeleton, TextLink } from "../../parts/Page.tsx"
import { HealthBadge } from "../catalog/prices.tsx"
import { Losses, Margins } from "./Margins.tsx"
import { SmallTable, TablePanel, Verdict } from "./parts.tsx"

type State = AnswerOf<"operatorProviders", "list">
type Provider = State["providers"][number]

const refreshMillis = 15_000

/** What keeps a configured provider from earning. */
const notesOf = ({ providers, cost_drifts, paused }: State): ReadonlyArray<ReactNode> => [
  ...paused.map(({ provider, capability, reason, detail, until, organizations }) => (
    <>
      {provider} is not called for {capability} by this process until <Time at={until} />, for{" "}
      {counted(organizations, "organization")}: {reason.replaceAll("_", " ")}. {detail}
    </>
  )),
  ...providers
    .filter(({ configured, health }) => configured && (health.status === "outage" || health.status === "degraded"))
    .map(({ provider, health }) => `${provider} is ${health.status}, in ${health.sample_size} calls of 30 days.`),
  ...cost_drifts.map(({ provider, capability, expected, measured, since, run_id }) => (
    <>
      {capability} at {provider} costs {exactDollars(measured)} instead of {exactDollars(expected)} since{" "}
      <Time at={since} />. It is priced by that cost. <Id id={run_id} what="the run's id" />
    </>
  ))
]

const Attention = ({ state }: { readonly state: State }) => {
  const notes = notesOf(state)
  return (
    <Panel title="Needs attention">
      {notes.length === 0 ? (
        <Verdict good>No provider is left alone, failing, or more expensive than its rate.</Verdict>
      ) : (
        <ul className="grid gap-2">
          {notes.map((note, index) => (
            <li key={index}>
              <Verdict good={false}>{note}</Verdict>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

const checkedOf = ({ checked_at, unchecked, serves }: Provider): ReactNode =>
  checked_at === null ? (
    "never"
  ) : (
    <>
      {serves.length - unchecked.length} of {serves.length}, <Time at={checked_at} />
    </>
  )

const Configured = ({ providers }: { readonly providers: ReadonlyArray<Provider> }) => (
  <Panel title="Configured">
    <SmallTable
      label="Configured providers"
      rows={providers}
      none="No provider has an account yet."
      columns={[
        { title: "Provider", cell: ({ title }) => title },
        {
          title: "Health",
          cell: ({ health }) => <HealthBadge health={health} />
        },
        { title: "Calls", cell: ({ health }) => health.sample_size, align: "right" },
        { title: "Checks passed", cell: checkedOf },
        { title: "Serves", cell: ({ serves }) => serves.join(", ") }
      ]}
    />
    {providers.some(({ unchecked }) => unchecked.length > 0) && (
      <div className="mt-4 space-y-2">
        <p className="text-muted">Before customers use a provider, accept it on the server:</p>
        <CodeBlock text="rungate providers check <slug>" label="the command that checks a provider" />
      </div>
    )}
  </Panel>
)

const Missing = ({ providers }: { readonly providers: ReadonlyArray<Provider> }) => (
  <TablePanel
    title="Not configured"
    label="Providers without an account"
    rows={providers.toSorted((a, b) => b.adds.length - a.adds.length)}
    none="Every provider has an account."
    columns={[
      { title: "Provider", cell: ({ title }) => title },
      { title: "Set", cell: ({ variable }) => <code className="font-mono">{variable}</code> },
      {
        title: "Its account would add",
        cell: ({ adds, serves }) =>
          adds.length > 0
            ? adds.join(", ")
            : serves.length > 0
              ? "more providers to fall back to"
              : "raw endpoints only"
      }
    ]}
  />
)

const Providers = () => {
  const state = useRead(["operator", "providers"], () => api.operatorProviders.list({}), {
    refetchInterval: refreshMillis
  })
  return (
    <Page
      actions={<TextLink to="/operator/credits">Provider credits</TextLink>}
      lead={state.data?.mode === "sandbox" && "This is the sandbox, which simulates all of them."}
    >
      <Loaded query={state} skeleton={<Skeleton lines={10} />}>
        {(data) => (
          <>
            <Attention state={data} />
            <Configured providers={data.providers.filter(({ configured }) => configured)} />
            <Missing providers={data.providers.filter(({ configured }) => !configured)} />
          </>
        )}
      </Loaded>
      <Margins />
      <Losses />
    </Page>
  )
}

export default Providers
