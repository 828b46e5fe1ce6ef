/** Says that the e-mail address is not verified yet, and what waits for it. */
import { useAction } from "../actions/useAction.ts"
import { api } from "../data/api.ts"
import { Button } from "../parts/Button.tsx"

export const Unverified = ({ email }: { readonly email: string }) => {
  const resend = useAction(() => api.recovery.resendVerification({}))
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 border-b border-line bg-amber-soft px-6 py-2 text-amber max-sm:px-4">
      <p>
        {resend.error !== null
          ? resend.error.message
          : resend.isSuccess
            ? `A new link is on its way to ${email}.`
            : `Open the link that was mailed to ${email}. Until then you can look around, but not create keys, run or pay.`}
      </p>
      <Button busy={resend.isPending} onClick={() => resend.mutate()}>
        Send the link again
      </Button>
    </div>
  )
}
