/** Prices of capabilities and endpoints in a few words. */
import { Money } from "../../parts/Money.tsx"

interface Cost {
  readonly model: string
  readonly estimate: string | null
}

/** What an ordinary call of an endpoint costs. */
export const CostWords = ({ cost }: { readonly cost: Cost }) => {
  if (cost.model === "free") return <span>free</span>
  if (cost.estimate === null) return <span className="text-muted">no published rate</span>
  return <Money amount={cost.estimate} />
}

/** The lowest price of a capability. */
export const PriceFrom = ({ price }: { readonly price: { readonly amount: string } | null }) =>
  price === null ? (
    <span className="text-muted">no offer</span>
  ) : (
    <span className="whitespace-nowrap">
      from <Money amount={price.amount} />
    </span>
  )
