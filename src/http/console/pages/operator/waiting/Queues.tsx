/** Queues and lanes: what waits for how long, and the commands that failed too often, with why and a retry. */
import { type AnswerOf, api } from "../../../data/api.ts"
import { PagedList, usePaged } from "../../../lists/PagedList.tsx"
import { columnsOf } from "../../../lists/nouns.tsx"
import { Loaded, Page, Panel, Skeleton, TextLink } from "../../../parts/Page.tsx"
import { Id, Time } from "../../../parts/Values.tsx"
import { Ask, Entry, SmallTable, TablePanel } from "../parts.tsx"
import { type QueuesState, secondsText, useQueues } from "../useQueues.ts"

type Letter = AnswerOf<"operatorQueues", "deadLetters">["items"][number]

/** What a retry may change, by the kind of the command. */
const consequences: Readonly<Record<string, string>> = {
  Reserve: "Its run has ended as failed, so it will change nothing. The retry takes it out of this list.",
  Settle: "If its run is still open, the run ends and is charged. Otherwise nothing changes.",
  Cancel: "If its run has not started, the run is cancelled. Otherwise nothing changes.",
  Credit: "The amount is booked, unless its reference is booked already.",
  Pay: "The payment is booked, unless it is booked already.",
  AutoTopup: "The automatic top-up becomes as this command says, also if it was changed since."
}

const Retry = ({ letter }: { readonly letter: Letter }) => {
  const name = `${letter.command} of ${letter.organization}`
  return (
    <Ask
      send={() => api.operatorQueues.retry({ params: { command_id: letter.id } })}
      says="The lane tries the command again."
      word="Retry…"
      label={`Retry… ${name}`}
      title={`Retry ${name}?`}
      confirm="Retry the command"
    >
      <p>{consequences[letter.command] ?? "The lane applies the command."}</p>
      <p>If it fails {letter.attempts} times more, it comes back to this list.</p>
    </Ask>
  )
}

const entryOf = (letter: Letter) => (
  <Entry
    key={letter.id}
    title={
      <>
        <span className="font-medium">{letter.command}</span> of{" "}
        <TextLink to={`/operator/organizations/${letter.org_id}`}>{letter.organization}</TextLink>
      </>
    }
    action={<Retry letter={letter} />}
    why={letter.why}
  >
    <span>
      stored <Time at={letter.created_at} />
    </span>
    <span>lane {letter.lane}</span>
    <span>failed {letter.attempts} times</span>
    {letter.run_id !== null && <Id id={letter.run_id} what="the run's id" />}
  </Entry>
)

const DeadLetters = () => (
  <Panel title="Dead-lettered commands">
    <PagedList
      paged={usePaged(["operator", "dead-letters"], (from) => api.operatorQueues.deadLetters({ query: from }))}
      empty={<p className="text-muted">None. A command that fails alone five times will be here, with its error.</p>}
    >
      {(letters) => <ul>{letters.map(entryOf)}</ul>}
    </PagedList>
  </Panel>
)

const Lanes = ({ queues }: { readonly queues: QueuesState }) => (
  <Panel title="Lanes">
    <p className="mb-3 text-muted">
      A lane applies the commands of its wallets one after the other. Queues are on{" "}
      {queues.backend === "redis" ? "Redis" : "PostgreSQL"}; {queues.wake_ups} wake-ups wait.
    </p>
    <SmallTable
      label="Lanes"
      rows={queues.lanes}
      none="There are no lanes."
      columns={columnsOf("Lane", {
        oldest_seconds: ({ oldest_seconds: age }) => (age === null ? "–" : secondsText(age))
      })}
    />
  </Panel>
)

const Queues = () => (
  <Page>
    <DeadLetters />
    <Loaded query={useQueues()} skeleton={<Skeleton lines={8} />}>
      {(data) => (
        <>
          <TablePanel
            title="Open runs"
            rows={data.runs}
            none="No run is open."
            columns={columnsOf("OpenRuns", { oldest_seconds: ({ oldest_seconds }) => secondsText(oldest_seconds) })}
          />
          <Lanes queues={data} />
        </>
      )}
    </Loaded>
  </Page>
)

export default Queues
