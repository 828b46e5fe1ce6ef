/** Verifies an e-mail address with the token of a mailed link (`/verify-email?token=…`). Only the button acts, because mail scanners open links. */
import { useState } from "react"
import { ActionButton } from "../../actions/Actions.tsx"
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { ButtonLink } from "../../parts/Page.tsx"
import { FormPage } from "./FormPage.tsx"

const Verify = () => {
  const [{ token = "" }] = useFilters()
  const [verified, setVerified] = useState<string | null>(null)
  if (verified !== null)
    return (
      <FormPage title="Your address is verified" lead={`${verified} is verified, and your account is ready.`}>
        <ButtonLink to="/" look="primary">
          Go to Home
        </ButtonLink>
      </FormPage>
    )
  return (
    <FormPage
      title="Verify your e-mail address"
      lead="This confirms that the address is yours, and that you signed up here."
    >
      <div className="space-y-4">
        <ActionButton
          send={() => api.recovery.verifyEmail({ payload: { token } })}
          after={({ email }) => setVerified(email)}
          changes={["session"]}
          look="primary"
          disabled={token === ""}
        >
          Verify the address
        </ActionButton>
      </div>
    </FormPage>
  )
}

export default Verify
