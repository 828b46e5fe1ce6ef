/** The person's open sessions: which they are, ending one of them, and ending all. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { useSignOut } from "../../account/useSignOut.ts"
import type { AnswerOf } from "../../../client/Browser.ts"
import { api, queries } from "../../data/api.ts"
import { sessionChanged } from "../../data/session.ts"
import { exactly } from "../../data/time.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { Panel } from "../../parts/Page.tsx"
import { Loaded } from "../../parts/States.tsx"
import { Badge } from "../../parts/Status.tsx"
import { type Column, DataTable } from "../../parts/Table.tsx"
import { Time } from "../../parts/Time.tsx"

type OpenSession = AnswerOf<"auth", "sessions">["items"][number]

const sessionsKey = ["sessions"]

const EndOne = ({ session }: { readonly session: OpenSession }) => {
  const end = useMutation({
    mutationFn: () => api.auth.endSession({ params: { session_id: session.id } }),
    onSuccess: async () => {
      announce("The session has ended.")
      await queries.invalidateQueries({ queryKey: sessionsKey })
    }
  })
  return (
    <>
      <FormProblem error={end.error} />
      <Button
        busy={end.isPending}
        onClick={() => end.mutate()}
        aria-label={`End the session that began at ${exactly(session.created_at)}`}
      >
        End
      </Button>
    </>
  )
}

const columns: ReadonlyArray<Column<OpenSession>> = [
  {
    title: "Signed in",
    cell: ({ created_at, current }) => (
      <span className="inline-flex flex-wrap items-center gap-2">
        <Time at={created_at} />
        {current && <Badge tone="green">this browser</Badge>}
      </span>
    )
  },
  { title: "Organization", cell: ({ organization }) => <span className="break-words">{organization.name}</span> },
  { title: "Ends", cell: ({ expires_at }) => <Time at={expires_at} />, wide: true },
  {
    title: "Actions",
    cell: (session) => (session.current ? null : <EndOne session={session} />),
    align: "right"
  }
]

const EndAll = () => {
  const [asks, setAsks] = useState(false)
  const endAll = useMutation({
    mutationFn: () => api.auth.endSessions({}),
    onSuccess: () => sessionChanged("/sign-in")
  })
  return (
    <>
      <FormProblem error={endAll.error} />
      <Button look="danger" onClick={() => setAsks(true)}>
        End all my sessions
      </Button>
      <Confirm
        open={asks}
        title="End all your sessions?"
        action="End all sessions"
        cancel="Cancel"
        busy={endAll.isPending}
        onClose={() => setAsks(false)}
        onConfirm={() => endAll.mutate()}
      >
        <p>
          Every browser and every command line that is signed in as you signs out, this page too. API keys still work.
        </p>
      </Confirm>
    </>
  )
}

export const Sessions = () => {
  const signOut = useSignOut()
  const sessions = useQuery({ queryKey: sessionsKey, queryFn: () => api.auth.sessions({}) })
  return (
    <Panel title="Sessions">
      <div className="space-y-4">
        <Loaded query={sessions}>
          {({ items }) => (
            <DataTable label="Your open sessions" rows={items} columns={columns} keyOf={({ id }) => id} />
          )}
        </Loaded>
        <div className="flex flex-wrap gap-2">
          <Button busy={signOut.isPending} onClick={() => signOut.mutate()}>
            Sign out here
          </Button>
          <EndAll />
        </div>
      </div>
    </Panel>
  )
}
