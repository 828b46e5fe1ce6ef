/** Verifies an e-mail address with the token of a mailed link (`/verify?token=…`). Only the button acts, because mail scanners open links. */
import { useMutation } from "@tanstack/react-query"
import { useFilters } from "../../data/address.ts"
import { api, queries } from "../../data/api.ts"
import { Button, ButtonLink } from "../../parts/Button.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { FormPage } from "./FormPage.tsx"

const Verify = () => {
  const [{ token = "" }] = useFilters()
  const verify = useMutation({
    mutationFn: () => api.recovery.verifyEmail({ payload: { token } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["session"] })
  })
  if (verify.data !== undefined)
    return (
      <FormPage title="Your address is verified" lead={`${verify.data.email} is verified, and your account is ready.`}>
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
        <FormProblem error={verify.error} />
        <Button look="primary" busy={verify.isPending} disabled={token === ""} onClick={() => verify.mutate()}>
          Verify the address
        </Button>
      </div>
    </FormPage>
  )
}

export default Verify
