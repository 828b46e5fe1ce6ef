/** E-mail and password, or a passkey. Also stands in the dialog of a session that has ended. */
import { ActionForm, textIn, useAction } from "../actions/Actions.tsx"
import { api } from "../data/api.ts"
import { useService } from "../data/session.ts"
import { Button } from "../parts/Page.tsx"
import { hasPasskeys, signInWithPasskey } from "./passkey.ts"
import { useCode } from "./useCode.tsx"
import { EmailField, FormProblem, PasswordField } from "../parts/Field.tsx"

/** Some browsers keep no secure cookie at http://localhost. Then the session is missing from the next request, `read`. */
export const cookieKept = (read: Promise<unknown>, right = "The sign-in is right", next = "") =>
  read.catch(() => {
    throw new Error(
      `${right}, but this browser did not keep the session cookie. Allow cookies for this address, or open the console over https${next}.`
    )
  })
const sessionKept = () => cookieKept(api.auth.session({}))

export const signIn = (payload: Parameters<typeof api.browser.signIn>[0]["payload"]) =>
  api.browser.signIn({ payload }).then(sessionKept)

/** Where the service has an OpenID provider. `next`: the page that somebody comes back to. */
export const OpenIdButton = ({ next }: { readonly next: string }) => {
  const openid = useService().data?.openid
  if (typeof openid !== "string") return null
  const address = `/auth/openid?next=${encodeURIComponent(next)}`
  return (
    <Button className="w-full" onClick={() => location.assign(address)}>
      Sign in with {openid}
    </Button>
  )
}

interface SignInFormProps {
  readonly email?: string
  readonly organization_id?: string | null
  readonly onDone: () => void
}

export const SignInForm = ({ email = "", organization_id = null, onDone }: SignInFormProps) => {
  const { codeField, withCode } = useCode()
  const chosen = organization_id === null ? {} : { organization_id }
  const send = (form: FormData) => {
    const names = { email: textIn(form, "email"), password: textIn(form, "password") }
    return withCode(form, (code) => signIn({ ...names, ...chosen, ...code }))
  }
  const passkey = useAction(() => signInWithPasskey(chosen).then(sessionKept), { after: onDone })
  return (
    <>
      <ActionForm send={send} after={onDone} submit="Sign in" signsIn narrow>
        <EmailField autoComplete="username" defaultValue={email} />
        <PasswordField label="Password" name="password" />
        {codeField}
      </ActionForm>
      {hasPasskeys && (
        <div className="mt-4 space-y-4">
          <FormProblem error={passkey.error} signsIn />
          <Button className="w-full" busy={passkey.isPending} onClick={() => passkey.mutate()}>
            Sign in with a passkey
          </Button>
        </div>
      )}
    </>
  )
}
