/** Commands that failed too often. Each says why, and is retried after a question. */
import { useInfiniteQuery, useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { AnswerOf } from "../../../client/Browser.ts"
import { api } from "../../data/api.ts"
import { operatorChanged } from "../../data/operator.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Id } from "../../parts/Copy.tsx"
import { TextLink } from "../../parts/Link.tsx"
import { Panel } from "../../parts/Page.tsx"
import { Failed, Skeleton } from "../../parts/States.tsx"
import { Time } from "../../parts/Time.tsx"
import { Ask } from "./Ask.tsx"

type Letter = AnswerOf<"operatorQueues", "deadLetters">["items"][number]

const pageSize = 50

/** What a retry may change, by the kind of the command. */
const consequences: Readonly<Record<string, string>> = {
  Reserve: "Its run has ended as failed, so it will change nothing. The retry takes it out of this list.",
  Settle: "If its run is still open, the run ends and is charged. Otherwise nothing changes.",
  Cancel: "If its run has not started, the run is cancelled. Otherwise nothing changes.",
  Credit: "The amount is booked, unless its reference is booked already.",
  SetGuard: "The limits become those of this command, also if they were changed since.",
  Pay: "The payment is booked, unless it is booked already.",
  AutoTopup: "The automatic top-up becomes as this command says, also if it was changed since."
}

const Retry = ({ letter, onClose }: { readonly letter: Letter; readonly onClose: () => void }) => {
  const retry = useMutation({
    mutationFn: () => api.operatorQueues.retry({ params: { command_id: letter.id } }),
    onSuccess: () => {
      announce("The lane tries the command again.")
      operatorChanged()
      onClose()
    }
  })
  return (
    <Ask
      open
      title={`Retry ${letter.command} of ${letter.organization}?`}
      action="Retry the command"
      busy={retry.isPending}
      error={retry.error}
      onConfirm={() => retry.mutate()}
      onClose={onClose}
    >
      <p>{consequences[letter.command] ?? "The lane applies the command."}</p>
      <p>If it fails {letter.attempts} times more, it comes back to this list.</p>
    </Ask>
  )
}

const Row = ({ letter, onRetry }: { readonly letter: Letter; readonly onRetry: () => void }) => (
  <li className="grid gap-2 border-b border-line py-3 last:border-b-0">
    <div className="flex flex-wrap items-center justify-between gap-2">
      <span>
        <span className="font-medium">{letter.command}</span> of{" "}
        <TextLink to={`/operator/organizations/${letter.org_id}`}>{letter.organization}</TextLink>
      </span>
      <Button onClick={onRetry}>
        Retry…
        <span className="sr-only">
          {" "}
          {letter.command} of {letter.organization}
        </span>
      </Button>
    </div>
    <pre className="overflow-x-auto rounded bg-sunken p-2 font-mono text-small whitespace-pre-wrap break-words">
      {letter.why}
    </pre>
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-small text-muted">
      <span>
        stored <Time at={letter.created_at} />
      </span>
      <span>lane {letter.lane}</span>
      <span>failed {letter.attempts} times</span>
      {letter.run_id !== null && <Id id={letter.run_id} what="the run's id" />}
    </p>
  </li>
)

export const DeadLetters = () => {
  const [asked, setAsked] = useState<Letter | null>(null)
  const letters = useInfiniteQuery({
    queryKey: ["operator", "dead-letters"],
    queryFn: ({ pageParam }) =>
      api.operatorQueues.deadLetters({
        query: { limit: pageSize, ...(pageParam === "" ? {} : { cursor: pageParam }) }
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined
  })
  const items = letters.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <Panel title="Dead-lettered commands">
      {letters.data === undefined ? (
        letters.error === null ? (
          <Skeleton />
        ) : (
          <Failed error={letters.error} retry={() => void letters.refetch()} />
        )
      ) : items.length === 0 ? (
        <p className="text-muted">None. A command that fails alone five times will be here, with its error.</p>
      ) : (
        <ul>
          {items.map((letter) => (
            <Row key={letter.id} letter={letter} onRetry={() => setAsked(letter)} />
          ))}
        </ul>
      )}
      {letters.hasNextPage && (
        <Button className="mt-3" busy={letters.isFetchingNextPage} onClick={() => void letters.fetchNextPage()}>
          Show more
        </Button>
      )}
      {asked !== null && <Retry letter={asked} onClose={() => setAsked(null)} />}
    </Panel>
  )
}
