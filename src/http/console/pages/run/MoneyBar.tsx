/** What the run was quoted at most, what it was charged, and what was released, as one bar and in words. */
import { isLess, microsOf, shareOf, sumOf } from "../../data/money.ts"
import { Money } from "../../parts/Money.tsx"
import { Panel } from "../../parts/Page.tsx"
import type { Run } from "./useRun.ts"

const Amount = ({ word, amount, look }: { readonly word: string; readonly amount: string; readonly look: string }) => (
  <div className="flex items-center gap-2">
    <span aria-hidden="true" className={`h-3 w-3 rounded-sm ${look}`} />
    <dt className="text-muted">{word}</dt>
    <dd className="font-semibold">
      <Money amount={amount} />
    </dd>
  </div>
)

/** Of a run that was blocked or failed before its hold, nothing was held. */
const wasHeld = ({ status, error }: Run) => status !== "blocked" && error?.code !== "insufficient_balance"

export const MoneyBar = ({ run }: { readonly run: Run }) => {
  const { quoted, charged, platform_funded } = run.billing
  const settled = charged ?? "0"
  const released = sumOf([quoted, `-${settled}`].map((one) => one.replace("--", "")))
  const share = shareOf(settled, quoted)
  return (
    <Panel title="Money">
      <div className="flex h-3 overflow-hidden rounded bg-grey-soft" aria-hidden="true">
        {run.done ? (
          <div className="bg-accent" style={{ width: `${share * 100}%` }} />
        ) : (
          <div className="w-full bg-blue opacity-60" />
        )}
      </div>
      <dl className="mt-3 flex flex-wrap gap-x-8 gap-y-2">
        <Amount word="Quoted, at most" amount={quoted} look="bg-grey-soft border border-line-strong" />
        {run.done ? (
          <>
            <Amount word="Charged" amount={settled} look="bg-accent" />
            {wasHeld(run) && !isLess(released, "0") && microsOf(released) !== 0n && (
              <Amount word="Released" amount={released} look="bg-grey-soft" />
            )}
          </>
        ) : (
          <Amount word="Held until it ends" amount={quoted} look="bg-blue opacity-60" />
        )}
      </dl>
      {!wasHeld(run) && <p className="mt-2 text-muted">Nothing was held or charged.</p>}
      {platform_funded && <p className="mt-2 text-muted">Paid with the platform's account at the provider.</p>}
    </Panel>
  )
}
