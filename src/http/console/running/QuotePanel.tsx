/** What a run would hold and charge, whom it would call, and what would stop it. Shown before anything that costs. */
import { percent, quoteNotes } from "../../client/Words.ts"
import { microsOf } from "../data/money.ts"
import { duration } from "../data/time.ts"
import { Amounts } from "../lists/Facts.tsx"
import { wordOf } from "../lists/nouns.tsx"
import { FormProblem } from "../parts/Field.tsx"
import { Skeleton } from "../parts/Page.tsx"
import { type Column, DataTable } from "../parts/Table.tsx"
import { Money } from "../parts/Values.tsx"
import { ControlLinks } from "./controls.tsx"
import type { Quote, useQuote } from "./useQuote.ts"

export interface OfferRow {
  readonly provider: string
  readonly price: string | null
  /** A share from 0 to 1. */
  readonly success: number | null
  /** Left out where nobody knows it, such as in a quote. */
  readonly latency_ms?: number | null
  readonly excluded_because: string | null
}

const unknown = <span className="text-muted">not measured</span>

const columnsOf = (offers: ReadonlyArray<OfferRow>): ReadonlyArray<Column<OfferRow>> => {
  const chosen = offers.filter(({ excluded_because }) => excluded_because === null)
  const chosenWords = (offer: OfferRow) => (chosen.length === 1 ? "yes" : `yes, as number ${chosen.indexOf(offer) + 1}`)
  const times: Column<OfferRow> = {
    title: "Median time",
    cell: ({ latency_ms = null }) => (latency_ms === null ? unknown : duration(Math.round(latency_ms))),
    align: "right",
    wide: true
  }
  return [
    {
      title: "Provider",
      cell: ({ provider, excluded_because }) => (
        <span className={excluded_because === null ? "font-medium" : "text-muted"}>{provider}</span>
      )
    },
    {
      title: "Price, at most",
      cell: ({ price }) => (price === null ? <span className="text-muted">not stored</span> : <Money amount={price} />),
      align: "right"
    },
    {
      title: "Success",
      cell: ({ success }) => (success === null ? unknown : percent(success)),
      align: "right",
      wide: true
    },
    ...(offers.some(({ latency_ms }) => latency_ms !== undefined) ? [times] : []),
    {
      title: "Chosen",
      cell: (offer) =>
        offer.excluded_because === null ? (
          <span className="font-medium">{chosenWords(offer)}</span>
        ) : (
          <span className="text-muted">no: {wordOf("QuotedOffer", "excluded_because", offer.excluded_because)}</span>
        )
    }
  ]
}

export const OfferTable = ({ label, offers }: { readonly label: string; readonly offers: ReadonlyArray<OfferRow> }) => (
  <DataTable label={label} rows={offers} columns={columnsOf(offers)} />
)

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

export const QuotePanel = ({ quote, error, isCurrent }: ReturnType<typeof useQuote>) => {
  if (error !== null) return <FormProblem error={error} />
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
      {quote.would === "block" && (
        <div role="alert" className="rounded border border-amber bg-amber-soft p-3 text-amber">
          <p className="font-medium">The run would be blocked now.</p>
          {quote.error !== undefined && <p className="mt-1 break-words">{quote.error.message}</p>}
          <ControlLinks controls={quote.controls} code={quote.error?.code} />
        </div>
      )}
      <p className="break-words text-muted">{quote.routing_reason}</p>
      <details>
        <summary className="w-fit rounded text-accent underline underline-offset-2">
          Providers of this run ({quote.offers.filter(({ chosen }) => chosen).length} of {quote.offers.length})
        </summary>
        <div className="mt-2">
          <OfferTable
            label="Providers of this run"
            offers={quote.offers.map((offer) => ({ ...offer, success: offer.expected_success }))}
          />
        </div>
      </details>
    </div>
  )
}
