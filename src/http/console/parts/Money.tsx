/** An amount, exact: every digit that the ledger has, in figures of one width. */
import { exactDollars } from "../data/money.ts"

export const Money = ({ amount, className = "" }: { readonly amount: string; readonly className?: string }) => (
  <span className={`tabular-nums whitespace-nowrap ${className}`} title={`${amount} USD`}>
    {exactDollars(amount)}
  </span>
)
