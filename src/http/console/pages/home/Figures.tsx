/** Available, reserved, and today's spending against the daily limit. */
import type { ReactNode } from "react"
import { Meter } from "../../forms/Meter.tsx"
import { useGuard, useWallet } from "../../frame/Balance.tsx"
import { Money } from "../../parts/Money.tsx"
import { Loaded, Skeleton } from "../../parts/States.tsx"
import { Time } from "../../parts/Time.tsx"

const Figure = ({
  title,
  children,
  note
}: {
  readonly title: string
  readonly children: ReactNode
  readonly note?: ReactNode
}) => (
  <div className="rounded border border-line bg-panel p-4">
    <h2 className="text-small font-medium text-muted">{title}</h2>
    <p className="mt-1 text-title font-semibold">{children}</p>
    {note !== undefined && <div className="mt-1 text-small text-muted">{note}</div>}
  </div>
)

const Today = () => (
  <Loaded query={useGuard()} skeleton={<Skeleton lines={2} />}>
    {({ spent_today, daily_limit, resets_at }) => (
      <Figure
        title="Spent today (UTC)"
        note={
          daily_limit === null ? (
            "No daily limit is set."
          ) : (
            <>
              of <Money amount={daily_limit} /> · resets <Time at={resets_at} />
              <div className="mt-2">
                <Meter spent={spent_today} limit={daily_limit} label="Part of the daily limit that is spent" />
              </div>
            </>
          )
        }
      >
        <Money amount={spent_today} />
      </Figure>
    )}
  </Loaded>
)

export const Figures = () => (
  <div className="grid gap-4 sm:grid-cols-3">
    <Loaded query={useWallet()} skeleton={<Skeleton lines={2} />}>
      {({ available, balance, reserved }) => (
        <>
          <Figure
            title="Available"
            note={
              <>
                of a balance of <Money amount={balance} />
              </>
            }
          >
            <Money amount={available} />
          </Figure>
          <Figure title="Reserved" note="held by runs that have not ended">
            <Money amount={reserved} />
          </Figure>
        </>
      )}
    </Loaded>
    <Today />
  </div>
)
