/** What a run would hold and charge, whom it would call, and what would stop it. Shown before anything that costs. */
import { quoteNotes } from "../../client/Words.ts"
import { microsOf } from "../data/money.ts"
import { Amounts } from "../lists/Facts.tsx"
import { FormProblem } from "../parts/Field.tsx"
import { Skeleton } from "../parts/Page.tsx"
import { ControlLinks } from "./controls.tsx"
import { OfferTable } from "./offers.tsx"
import type { Quote } from "./useQuote.ts"

const Cost = ({ quote }: { readonly quote: Quote }) =>
  microsOf(quote.hold) === 0n ? (
    <p>This run is free.</p>
  ) : (
    <Amounts
      large
      amounts={[
        ["At most", quote.hold],
        // A service of an older version answers none, while it is replaced.
        ...(quote.from === undefined ? [] : [["From", quote.from] as const]),
        ["On average", quote.expected],
        ["If it fails", quote.minimum]
      ]}
    />
  )

const Blocked = ({ quote }: { readonly quote: Quote }) => (
  <div role="alert" className="rounded border border-amber bg-amber-soft p-3 text-amber">
    <p className="font-medium">The run would be blocked now.</p>
    {quote.error !== undefined && <p className="mt-1 break-words">{quote.error.message}</p>}
    <ControlLinks controls={quote.controls} code={quote.error?.code} />
  </div>
)

export const QuotePanel = ({
  quote,
  error,
  isCurrent
}: {
  readonly quote: Quote | null
  readonly error: unknown
  readonly isCurrent: boolean
}) => {
  if (error !== null && error !== undefined) return <FormProblem error={error} />
  if (quote === null) return <Skeleton lines={2} />
  return (
    <div className="space-y-3" aria-busy={!isCurrent}>
      <Cost quote={quote} />
      {!isCurrent && <p className="after-150 text-small text-muted">The price is being read again…</p>}
      {quoteNotes(quote).map((note) => (
        <p key={note} className="break-words">
          {note}
        </p>
      ))}
      {quote.would === "block" && <Blocked quote={quote} />}
      <p className="break-words text-muted">{quote.routing_reason}</p>
      <details>
        <summary className="w-fit rounded text-accent underline underline-offset-2">
          Providers of this run ({quote.offers.filter(({ chosen }) => chosen).length} of {quote.offers.length})
        </summary>
        <div className="mt-2">
          <OfferTable
            label="Providers of this run"
            offers={quote.offers.map(({ provider, price, expected_success, excluded_because }) => ({
              provider,
              price,
              success: expected_success,
              excluded_because
            }))}
          />
        </div>
      </details>
    </div>
  )
}
