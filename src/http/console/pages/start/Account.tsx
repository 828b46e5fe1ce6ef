/** The person's own account: address, password, sessions, theme. */
import { useMutation } from "@tanstack/react-query"
import { api, queries } from "../../data/api.ts"
import { useSession } from "../../data/session.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Id } from "../../parts/Copy.tsx"
import { Field, FormProblem, problemOf } from "../../parts/Field.tsx"
import { PageHead, Panel } from "../../parts/Page.tsx"
import { Time } from "../../parts/Time.tsx"
import { onForm, passwordLengthMin, textIn } from "../../account/forms.ts"
import { Sessions } from "./Sessions.tsx"

const Password = () => {
  const change = useMutation({
    mutationFn: (form: FormData) =>
      api.recovery.changePassword({
        payload: { current_password: textIn(form, "current"), new_password: textIn(form, "new") }
      }),
    onSuccess: async () => {
      announce("Your password is changed.")
      await queries.invalidateQueries({ queryKey: ["sessions"] })
    }
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
            <dd className="wrap-anywhere">{session.user.email}</dd>
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
