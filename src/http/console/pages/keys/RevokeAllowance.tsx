/** Revokes an allowance. The question says how much money returns, and which programs stop working. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../../data/api.ts"
import { amountOf, exactDollars, microsOf } from "../../data/money.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { Money } from "../../parts/Money.tsx"
import { type Allowance, allowancesChanged, readAllowance } from "./useAllowances.ts"

const Returns = ({ allowance: { parent_id, held, available } }: { readonly allowance: Allowance }) => {
  const inUse = (microsOf(held) ?? 0n) - (microsOf(available) ?? 0n)
  return (
    <p>
      <Money amount={available} /> returns at once to{" "}
      {parent_id === null ? "the wallet" : "what the key that gave it may spend"}.
      {inUse > 0n && (
        <>
          {" "}
          Its open runs and the allowances under it hold <Money amount={amountOf(inUse)} /> more. What they do not cost
          returns when they end.
        </>
      )}
    </p>
  )
}

export const RevokeAllowance = ({ allowance }: { readonly allowance: Allowance }) => {
  const [asks, setAsks] = useState(false)
  // It may have spent more since the page was read.
  const present = useQuery({
    queryKey: ["keys", "allowance", allowance.id],
    queryFn: () => readAllowance(allowance.id),
    enabled: asks,
    placeholderData: allowance
  })
  const revoke = useMutation({
    mutationFn: () => api.allowances.revoke({ params: { allowance_id: allowance.id } }),
    onSuccess: async ({ spent, amount }) => {
      announce(`The allowance is revoked. It spent ${exactDollars(spent)} of ${exactDollars(amount)}.`)
      await allowancesChanged()
    },
    onSettled: () => setAsks(false)
  })
  return (
    <>
      <FormProblem error={revoke.error} />
      <Button look="danger" onClick={() => setAsks(true)} aria-label={`Revoke the allowance ${allowance.name}`}>
        Revoke
      </Button>
      <Confirm
        open={asks}
        title={`Revoke ${allowance.display}?`}
        action="Revoke the allowance"
        busy={revoke.isPending}
        onClose={() => setAsks(false)}
        onConfirm={() => revoke.mutate()}
      >
        <Returns allowance={present.data ?? allowance} />
        <p>
          Calls with <span className="break-words font-medium">{allowance.name}</span> fail at once, and so do those of
          allowances under it. It can't be undone. Runs that have started go on.
        </p>
      </Confirm>
    </>
  )
}
