/** Asks to sign in again over the page, which stays with everything that was typed into it. */
import { sessionChanged, sessionRenewed, useSession } from "../data/session.ts"
import { Button } from "../parts/Button.tsx"
import { Dialog } from "../parts/Dialog.tsx"
import { SignInForm } from "./SignInForm.tsx"

export const Expired = () => {
  const session = useSession()
  return (
    <Dialog open onClose={() => {}} title="Your session has ended">
      <p className="mb-4 text-muted">Sign in again. The page stays as it is.</p>
      <SignInForm
        email={session?.user.email ?? ""}
        organization_id={session?.organization.id ?? null}
        onDone={() => void sessionRenewed()}
      />
      <Button look="quiet" className="mt-3" onClick={() => sessionChanged("/")}>
        Leave this page
      </Button>
    </Dialog>
  )
}
