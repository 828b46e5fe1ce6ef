/** Sign-in, and back to the page that somebody wanted. */
import { useFilters } from "../../data/address.ts"
import { localAddress, sessionChanged, useService } from "../../data/session.ts"
import { TextLink } from "../../parts/Link.tsx"
import { FormPage } from "./FormPage.tsx"
import { SignInForm } from "../../account/SignInForm.tsx"

const SignIn = () => {
  const [{ next }] = useFilters()
  const isOpen = useService().data?.sign_up === "open"
  return (
    <FormPage title="Sign in">
      <SignInForm onDone={() => sessionChanged(localAddress(next))} />
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
