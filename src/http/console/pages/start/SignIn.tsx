/** Sign-in, and back to the page that somebody wanted. */
import { useFilters } from "../../data/address.ts"
import { localAddress, sessionChanged, useService } from "../../data/session.ts"
import { TextLink } from "../../parts/Page.tsx"
import { FormPage } from "./FormPage.tsx"
import { OpenIdButton, SignInForm } from "../../account/SignInForm.tsx"

const SignIn = () => {
  const [{ next }] = useFilters()
  const isOpen = useService().data?.sign_up === "open"
  return (
    <FormPage>
      <SignInForm onDone={() => sessionChanged(localAddress(next))} />
      <div className="mt-4">
        <OpenIdButton next={localAddress(next)} />
      </div>
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
