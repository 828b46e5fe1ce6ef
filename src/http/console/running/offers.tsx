/** The providers of a route as a table: the price, what was measured, and why each was left out. */
import { percent } from "../../client/Words.ts"
import { duration } from "../data/time.ts"
import { wordOf } from "../lists/nouns.tsx"
import { type Column, DataTable } from "../parts/Table.tsx"
import { Money } from "../parts/Values.tsx"

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
  <DataTable
    label={label}
    rows={offers}
    columns={columnsOf(offers)}
    keyOf={({ provider }, index) => `${provider} ${index}`}
  />
)
