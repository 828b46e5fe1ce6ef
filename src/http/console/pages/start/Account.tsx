/** The person's own account: address, password, sessions, theme. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../../data/api.ts"
import { sessionChanged, useSession } from "../../data/session.ts"
import { useSignOut } from "../../account/useSignOut.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Id } from "../../parts/Copy.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { Field, FormProblem, problemOf } from "../../parts/Field.tsx"
import { PageHead, Panel } from "../../parts/Page.tsx"
import { Time } from "../../parts/Time.tsx"
import { onForm, passwordLengthMin, textIn } from "../../account/forms.ts"

const Password = () => {
  const change = useMutation({
    mutationFn: (form: FormData) =>
      api.recovery.changePassword({
        payload: { current_password: textIn(form, "current"), new_password: textIn(form, "new") }
      }),
    onSuccess: () => announce("Your password is changed.")
  })
  return (
    <Panel title="Password">
      <form onSubmit={onForm((form) => change.mutate(form))} className="max-w-sm space-y-4">
        <Field
          label="Current password"
          name="current"
          type="password"
          autoComplete="current-password"
          required
          maxLength={500}
          problem={problemOf(change.error, "current_password")}
        />
        <Field
          label="New password"
          name="new"
          type="password"
          autoComplete="new-password"
          required
          minLength={passwordLengthMin}
          maxLength={500}
          hint={`At least ${passwordLengthMin} characters. It ends all your other sessions.`}
          problem={problemOf(change.error, "new_password")}
        />
        <FormProblem error={change.error} />
        {change.isSuccess && <p className="text-green">Your password is changed. Other sessions have ended.</p>}
        <Button type="submit" busy={change.isPending}>
          Change the password
        </Button>
      </form>
    </Panel>
  )
}

const Sessions = () => {
  const [asks, setAsks] = useState(false)
  const signOut = useSignOut()
  const endAll = useMutation({
    mutationFn: () => api.auth.endSessions({}),
    onSuccess: () => sessionChanged("/sign-in")
  })
  return (
    <Panel title="Sessions">
      <FormProblem error={endAll.error} />
      <div className="flex flex-wrap gap-2">
        <Button busy={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out here
        </Button>
        <Button look="danger" onClick={() => setAsks(true)}>
          End all my sessions
        </Button>
      </div>
      <Confirm
        open={asks}
        title="End all your sessions?"
        action="End all sessions"
        busy={endAll.isPending}
        onClose={() => setAsks(false)}
        onConfirm={() => endAll.mutate()}
      >
        <p>
          Every browser and every command line that is signed in as you signs out, this page too. API keys still work.
        </p>
      </Confirm>
    </Panel>
  )
}

const Account = () => {
  const session = useSession()
  if (session === null) return null
  return (
    <>
      <PageHead title="Account" />
      <div className="grid grid-cols-1 gap-6">
        <Panel title="You">
          <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
            <dt className="text-muted">E-mail address</dt>
            <dd className="break-all">{session.user.email}</dd>
            <dt className="text-muted">Organization</dt>
            <dd>
              {session.organization.name} <Id id={session.organization.id} what="the organization's id" />
            </dd>
            <dt className="text-muted">Role</dt>
            <dd>{session.role}</dd>
            <dt className="text-muted">Session ends</dt>
            <dd>
              <Time at={session.expires_at} />
            </dd>
          </dl>
        </Panel>
        <Password />
        <Sessions />
      </div>
    </>
  )
}

export default Account
