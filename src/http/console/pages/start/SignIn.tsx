/** Sign-in, and back to the page that somebody wanted. */
import { useFilters } from "../../data/address.ts"
import { localAddress, sessionChanged, useService } from "../../data/session.ts"
import { Button, TextLink } from "../../parts/Page.tsx"
import { FormPage } from "./FormPage.tsx"
import { SignInForm } from "../../account/SignInForm.tsx"

const SignIn = () => {
  const [{ next }] = useFilters()
  const service = useService().data
  const isOpen = service?.sign_up === "open"
  return (
    <FormPage>
      <SignInForm onDone={() => sessionChanged(localAddress(next))} />
      {typeof service?.openid === "string" && (
        <Button
          className="mt-4 w-full"
          onClick={() => location.assign(`/auth/openid?next=${encodeURIComponent(localAddress(next))}`)}
        >
          Sign in with {service.openid}
        </Button>
      )}
      <p className="mt-6 text-muted">
        <TextLink to="/forgot">Forgot your password?</TextLink>
      </p>
      {isOpen && (
        <p className="mt-2 text-muted">
          No account yet? <TextLink to="/sign-up">Sign up</TextLink>
        </p>
      )}
    </FormPage>
  )
}

export default SignIn
