/** What the run was quoted, held, charged and released, as one bar and in words. */
import { ChevronRight } from "lucide-react"
import { isLess, microsOf, shareOf } from "../../data/money.ts"
import { Panel, TextLink } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"
import { type Details, type OfRun, type Run, useDetails } from "./useRun.ts"

const looks = {
  quoted: "border border-dashed border-line-strong",
  held: "bg-blue opacity-60",
  charged: "bg-accent",
  released: "bg-grey-soft border border-line-strong"
} as const

interface AmountProps {
  readonly word: string
  readonly amount: string
  readonly look: keyof typeof looks
  readonly first?: boolean
}

const Amount = ({ word, amount, look, first = false }: AmountProps) => (
  <div className="flex items-center gap-2">
    {!first && <ChevronRight size={14} aria-hidden="true" className="text-muted max-sm:hidden" />}
    <span aria-hidden="true" className={`h-3 w-3 rounded-sm ${looks[look]}`} />
    <dt className="text-muted">{word}</dt>
    <dd className="font-semibold">
      <Money amount={amount} />
    </dd>
  </div>
)

const amountsOf = ({ done, billing: { quoted, charged } }: Run, details: Details | undefined) => ({
  ...{ done, quoted, charged: done ? (charged ?? "0") : null },
  held: details?.billing.held ?? null,
  released: details?.billing.released ?? null
})
type Amounts = ReturnType<typeof amountsOf>

/** The whole bar is the largest of the amounts. An open run's hold fills its part until the charge is known. */
const Bar = ({ quoted, held, charged, done }: Amounts) => {
  const whole = isLess(quoted, held ?? "0") ? (held ?? "0") : quoted
  const part = (amount: string | null) => `${shareOf(amount ?? "0", whole) * 100}%`
  return (
    <div className="relative h-4 overflow-hidden rounded border border-dashed border-line-strong" aria-hidden="true">
      <div
        className={`absolute inset-y-0 left-0 ${done ? "bg-grey-soft" : "bg-blue opacity-60"}`}
        style={{ width: part(held) }}
      />
      {done && <div className="absolute inset-y-0 left-0 bg-accent" style={{ width: part(charged) }} />}
    </div>
  )
}

const note = ({ held, charged, done, quoted }: Amounts): string | null => {
  if (!done) return held === null ? "Nothing is held yet." : "The hold ends with the run. Then the rest is released."
  if (held === null)
    return microsOf(quoted) === 0n ? "This run was free. Nothing was held." : "Nothing was held or charged."
  return microsOf(charged ?? "0") === 0n ? "Nothing was charged. The whole hold was released." : null
}

export const MoneyBar = ({ run }: OfRun) => {
  // Undefined while they load, and if they can't be read.
  const details = useDetails(run).data
  const amounts = amountsOf(run, details)
  const { quoted, held, charged, released, done } = amounts
  const refund = details?.ledger.find(({ type }) => type === "refund")
  const text = details === undefined ? null : note(amounts)
  return (
    <Panel
      title="Money"
      actions={
        <span className="flex flex-wrap gap-x-4">
          <TextLink to={`/runs/${run.run_id}?tab=ledger`} stay>
            Ledger
          </TextLink>
          {done && (
            <TextLink to={`/runs/${run.run_id}?tab=receipt`} stay>
              Receipt
            </TextLink>
          )}
        </span>
      }
    >
      <Bar {...amounts} held={details === undefined ? quoted : held} />
      <dl className="mt-3 flex flex-wrap gap-x-3 gap-y-2 max-sm:flex-col">
        <Amount word="Quoted" amount={quoted} look="quoted" first />
        {held !== null && <Amount word={done ? "Held" : "Held until it ends"} amount={held} look="held" />}
        {charged !== null && <Amount word="Charged" amount={charged} look="charged" />}
        {released !== null && microsOf(released) !== 0n && <Amount word="Released" amount={released} look="released" />}
      </dl>
      {refund !== undefined && (
        <p className="mt-2">
          <Money amount={refund.amount} /> were refunded by the outcome warranty.
        </p>
      )}
      {text !== null && <p className="mt-2 text-muted">{text}</p>}
      {run.billing.platform_funded && held !== null && (
        <p className="mt-2 text-muted">The provider is called with this service's own account.</p>
      )}
    </Panel>
  )
}
