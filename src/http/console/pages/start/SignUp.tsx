/** Sign-up, with a referral code (`/join/CODE`) or with the token of an operator's invitation (`/invitation?token=…`). */
import { ActionForm, textIn } from "../../actions/Actions.tsx"
import { setOnly, useFilters, useParam } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { sessionChanged, useService } from "../../data/session.ts"
import { EmailField, Field, PasswordField } from "../../parts/Field.tsx"
import { TextLink } from "../../parts/Page.tsx"
import { FormPage } from "./FormPage.tsx"

const Refused = ({ text }: { readonly text: string }) => (
  <FormPage title="Sign up">
    <p>{text}</p>
    <p className="mt-4">
      <TextLink to="/sign-in">Sign in</TextLink>
    </p>
  </FormPage>
)

const SignUp = () => {
  const [{ token = "", invitation = token, code: queried = "", email = "" }] = useFilters()
  const code = useParam("code") || queried
  const service = useService().data
  const signUp = (form: FormData) =>
    api.browser.signUp({
      payload: {
        email: textIn(form, "email"),
        password: textIn(form, "password"),
        organization: textIn(form, "organization"),
        ...setOnly({ referral_code: textIn(form, "referral_code").trim(), invitation })
      }
    })
  if (service?.sign_up === "closed")
    return <Refused text="Sign-up is closed here. Ask the operator of this service for an account." />
  if (service?.sign_up === "invite" && invitation === "")
    return <Refused text="Sign-up here is by invitation. Ask the operator of this service for a link, and open it." />
  return (
    <FormPage
      title={code === "" ? "Sign up" : "You are invited to Rungate"}
      lead="This creates an organization with its own wallet, and you as its owner."
    >
      <ActionForm send={signUp} after={() => sessionChanged("/")} submit="Sign up" narrow>
        <EmailField
          autoComplete="username"
          defaultValue={email}
          hint={invitation === "" ? undefined : "The address that the invitation is for."}
        />
        <PasswordField label="Password" name="password" isNew />
        <Field
          label="Name of your organization"
          name="organization"
          autoComplete="organization"
          required
          maxLength={200}
        />
        <Field
          label="Referral code (optional)"
          name="referral_code"
          maxLength={100}
          defaultValue={code}
          hint={service?.referral_terms ?? "From somebody who uses this service."}
        />
      </ActionForm>
      <p className="mt-6 text-muted">
        You have an account? <TextLink to="/sign-in">Sign in</TextLink>
      </p>
    </FormPage>
  )
}

export default SignUp
