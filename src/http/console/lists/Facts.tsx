/** What a page says about one object: terms with their values, figures with a word above them, and a bar for a limit. */
import type { ReactNode } from "react"
import { shareOf } from "../data/money.ts"
import { Money } from "../parts/Values.tsx"

/** Null for a fact that the object does not have. */
export type Fact = readonly [term: string, value: ReactNode] | null

export const Facts = ({ facts }: { readonly facts: ReadonlyArray<Fact> }) => (
  <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
    {facts.map(
      (fact) =>
        fact !== null && (
          <div key={fact[0]} className="contents">
            <dt className="text-muted">{fact[0]}</dt>
            <dd className="min-w-0 break-words">{fact[1]}</dd>
          </div>
        )
    )}
  </dl>
)

interface BulletsProps {
  readonly items: ReadonlyArray<ReactNode>
  readonly className: string
  readonly "aria-label"?: string
}

/** Sentences below each other, each with a dot. */
export const Bullets = ({ items, className, ...list }: BulletsProps) => (
  <ul {...list} className={`list-disc space-y-1 break-words ${className}`}>
    {items.map((item, index) => (
      <li key={index}>{item}</li>
    ))}
  </ul>
)

/** Amounts beside each other. */
export const Amounts = ({
  amounts,
  large = false
}: {
  readonly amounts: ReadonlyArray<readonly [term: string, amount: string]>
  readonly large?: boolean
}) => (
  <dl className="flex flex-wrap gap-x-8 gap-y-2">
    {amounts.map(([term, amount]) => (
      <div key={term}>
        <dt className="text-muted">{term}</dt>
        <dd className={`font-semibold ${large ? "text-title" : ""}`}>
          <Money amount={amount} />
        </dd>
      </div>
    ))}
  </dl>
)

interface FigureProps {
  readonly title: string
  readonly value: ReactNode
  readonly look?: string
  readonly children: ReactNode
}

/** One number or answer in a frame. */
export const Figure = ({ title, value, look = "", children }: FigureProps) => (
  <div className="rounded border border-line bg-panel p-4">
    <h2 className="text-small font-medium text-muted">{title}</h2>
    <p className={`mt-1 text-title font-semibold ${look}`}>{value}</p>
    <div className="mt-1 text-small break-words text-muted">{children}</div>
  </div>
)

const highShare = 0.8

interface MeterProps {
  readonly spent: string
  readonly limit: string
  readonly label: string
}

export const Meter = ({ spent, limit, label }: MeterProps) => {
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
