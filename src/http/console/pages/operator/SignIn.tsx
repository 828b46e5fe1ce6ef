/**
 * Where the link of `rungate admin console` leads. The session opens on a click and not by itself, so that a program that previews links
 * does not use the link up.
 */
import { cookieKept, OpenIdButton } from "../../account/SignInForm.tsx"
import { useAction } from "../../actions/Actions.tsx"
import { api } from "../../data/api.ts"
import { operatorSessionChanged } from "../../data/operator.ts"
import { Button } from "../../parts/Page.tsx"
import { CodeBlock } from "../../parts/Values.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { FormPage } from "../start/FormPage.tsx"

const SignIn = () => {
  const token = location.hash.slice(1)
  const open = useAction(
    async () => {
      await api.operatorSession.signIn({ payload: { token } })
      await cookieKept(api.operatorSession.get({}), "The link was right", ", and print a new link")
    },
    { after: () => operatorSessionChanged("/operator") }
  )
  return (
    <FormPage
      title="Operator console"
      lead="For the operator of this service. Changes here concern every organization."
    >
      <div className="space-y-4">
        {token === "" ? (
          <p>
            The address of this page has no sign-in token. Run this on the server, and open the link that it prints:
          </p>
        ) : (
          <>
            <FormProblem error={open.error} signsIn />
            <Button look="primary" className="w-full" busy={open.isPending} onClick={() => open.mutate()}>
              Open the operator console
            </Button>
            <p className="text-muted">The link works once, for ten minutes. This prints another one on the server:</p>
          </>
        )}
        <OpenIdButton next="/operator" />
        <CodeBlock text="rungate admin console" label="the command that prints a sign-in link" />
      </div>
    </FormPage>
  )
}

export default SignIn
