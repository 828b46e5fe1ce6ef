/** The person's open sessions: which they are, ending one of them, and ending all. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { useSignOut } from "../../account/useSignOut.ts"
import { ActionButton, ConfirmAction, useAction } from "../../actions/Actions.tsx"
import { sessionChanged } from "../../data/session.ts"
import { exactly } from "../../data/time.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { Button, Loaded, Panel } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { Badge, Time } from "../../parts/Values.tsx"

type OpenSession = AnswerOf<"auth", "sessions">["items"][number]

const EndOne = ({ session }: { readonly session: OpenSession }) => {
  const end = useAction(() => api.auth.endSession({ params: { session_id: session.id } }), {
    says: "The session has ended.",
    changes: ["sessions"]
  })
  return (
    <ActionButton action={end} aria-label={`End the session that began at ${exactly(session.created_at)}`}>
      End
    </ActionButton>
  )
}

const columns = columnsOf("OpenSession", {
  created_at: ({ created_at, current }) => (
    <span className="inline-flex flex-wrap items-center gap-2">
      <Time at={created_at} />
      {current && <Badge tone="green">this browser</Badge>}
    </span>
  ),
  actions: (session) => !session.current && <EndOne session={session} />
})

const EndAll = () => (
  <ConfirmAction
    send={() => api.auth.endSessions({})}
    after={() => sessionChanged("/sign-in")}
    word="End all my sessions"
    title="End all your sessions?"
    confirm="End all sessions"
  >
    <p>Every browser and every command line that is signed in as you signs out, this page too. API keys still work.</p>
  </ConfirmAction>
)

export const Sessions = () => {
  const signOut = useSignOut()
  const sessions = useRead(["sessions"], () => api.auth.sessions({}))
  return (
    <Panel title="Sessions">
      <div className="space-y-4">
        <Loaded query={sessions}>
          {({ items }) => <DataTable label="Your open sessions" rows={items} columns={columns} />}
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
