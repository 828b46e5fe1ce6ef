/** Revokes an allowance. The question says how much money returns, and which programs stop working. */
import { ConfirmAction } from "../../actions/Actions.tsx"
import { api } from "../../data/api.ts"
import { amountOf, exactDollars, microsOf } from "../../data/money.ts"
import { Money } from "../../parts/Values.tsx"
import { type Allowance, useAllowance } from "./useAllowances.ts"

const Returns = ({ listed }: { readonly listed: Allowance }) => {
  // It may have spent more since the page was read.
  const { parent_id, held, available } = useAllowance(listed.id, { placeholderData: listed }).data ?? listed
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

export const RevokeAllowance = ({ allowance }: { readonly allowance: Allowance }) => (
  <ConfirmAction
    send={() => api.allowances.revoke({ params: { allowance_id: allowance.id } })}
    says={({ spent, amount }) =>
      `The allowance is revoked. It spent ${exactDollars(spent)} of ${exactDollars(amount)}.`
    }
    changes={["keys", "wallet"]}
    word="Revoke"
    label={`Revoke the allowance ${allowance.name}`}
    title={`Revoke ${allowance.display}?`}
    confirm="Revoke the allowance"
    cancel="Keep it"
  >
    <Returns listed={allowance} />
    <p>
      Calls with <span className="break-words font-medium">{allowance.name}</span> fail at once, and so do those of
      allowances under it. It can't be undone. Runs that have started go on.
    </p>
  </ConfirmAction>
)
