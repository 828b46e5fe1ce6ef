/** A bar for the spent part of a limit. From 80 % on it is amber; the words beside it have the amounts. */
import { shareOf } from "../data/money.ts"

const highShare = 0.8

export const Meter = ({
  spent,
  limit,
  label
}: {
  readonly spent: string
  readonly limit: string
  readonly label: string
}) => {
  const share = shareOf(spent, limit)
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(Math.min(1, share) * 100)}
      className="h-1.5 min-w-24 overflow-hidden rounded bg-grey-soft"
    >
      <div
        className={`h-full ${share >= highShare ? "bg-amber" : "bg-accent"}`}
        style={{ width: `${Math.min(100, share * 100)}%` }}
      />
    </div>
  )
}
