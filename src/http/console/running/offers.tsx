/** The providers of a route as a table: the price, what was measured, and why each was left out. */
import type { ReactNode } from "react"
import { duration } from "../data/time.ts"
import { Money } from "../parts/Money.tsx"
import { cellLook } from "../parts/Table.tsx"

export interface OfferRow {
  readonly provider: string
  readonly price: string | null
  /** A share from 0 to 1. */
  readonly success: number | null
  /** Left out where nobody knows it, such as in a quote. */
  readonly latency_ms?: number | null
  readonly excluded_because: string | null
}

const reasons: Readonly<Record<string, string>> = {
  max_cost: "above the most that one call may cost",
  max_total: "above the most that all attempts may cost",
  cannot_serve: "can't serve this input",
  no_account: "the service has no account there",
  unavailable: "was failing",
  not_pinned: "another provider was asked for",
  attempt_limit: "a run calls only the first ones"
}

const reasonOf = (excluded_because: string): string => reasons[excluded_because] ?? excluded_because

export const percent = (share: number): string => `${(share * 100).toFixed(share > 0.995 || share < 0.1 ? 1 : 0)} %`

const unknown = <span className="text-muted">not measured</span>

const Cell = ({ children, right = false, wide = false }: { children: ReactNode; right?: boolean; wide?: boolean }) => (
  <td className={`${cellLook} ${right ? "text-right" : "text-left"} ${wide ? "max-sm:hidden" : ""}`}>{children}</td>
)

const Head = ({ children, right = false, wide = false }: { children: string; right?: boolean; wide?: boolean }) => (
  <th
    scope="col"
    className={`${cellLook} font-medium text-muted ${right ? "text-right" : "text-left"} ${wide ? "max-sm:hidden" : ""}`}
  >
    {children}
  </th>
)

export const OfferTable = ({ label, offers }: { readonly label: string; readonly offers: ReadonlyArray<OfferRow> }) => {
  const chosen = offers.filter(({ excluded_because }) => excluded_because === null).length
  const hasTimes = offers.some(({ latency_ms }) => latency_ms !== undefined)
  return (
    <section aria-label={label} tabIndex={0} className="overflow-x-auto rounded border border-line">
      <table className="w-full border-collapse text-small">
        <thead>
          <tr className="border-b border-line bg-sunken">
            <Head>Provider</Head>
            <Head right>Price, at most</Head>
            <Head right wide>
              Success
            </Head>
            {hasTimes && (
              <Head right wide>
                Median time
              </Head>
            )}
            <Head>Chosen</Head>
          </tr>
        </thead>
        <tbody>
          {offers.map(({ provider, price, success, latency_ms = null, excluded_because }, index) => (
            <tr key={`${provider} ${index}`} className="border-b border-line last:border-b-0">
              <Cell>
                <span className={excluded_because === null ? "font-medium" : "text-muted"}>{provider}</span>
              </Cell>
              <Cell right>
                {price === null ? <span className="text-muted">not stored</span> : <Money amount={price} />}
              </Cell>
              <Cell right wide>
                {success === null ? unknown : percent(success)}
              </Cell>
              {hasTimes && (
                <Cell right wide>
                  {latency_ms === null ? unknown : duration(Math.round(latency_ms))}
                </Cell>
              )}
              <Cell>
                {excluded_because === null ? (
                  <span className="font-medium">{chosen === 1 ? "yes" : `yes, as number ${index + 1}`}</span>
                ) : (
                  <span className="text-muted">no: {reasonOf(excluded_because)}</span>
                )}
              </Cell>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
