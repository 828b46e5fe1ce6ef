/** The available balance, always in sight, and whether what the page shows is current. */
import { api, useRead } from "../data/api.ts"
import { connection } from "../data/live.ts"
import { isLess } from "../data/money.ts"
import { useStore } from "../data/store.ts"
import { Money } from "../parts/Values.tsx"

export const useWallet = () => useRead(["wallet"], () => api.wallet.get({}))
export const useGuard = () => useRead(["guard"], () => api.wallet.guard({}))

/** The time zone whose days are counted. */
export const useZone = (): string => useGuard().data?.time_zone ?? "UTC"

export const Balance = ({ compact = false }: { readonly compact?: boolean }) => {
  const { data: wallet, error } = useWallet()
  const low = useGuard().data?.low_balance ?? null
  const state = useStore(connection)
  if (wallet === undefined)
    return error === null ? null : (
      <span className="text-small text-amber" title={error.message}>
        balance not read
      </span>
    )
  const isLow = low !== null && isLess(wallet.available, low)
  return (
    <div className={compact ? "" : "flex items-baseline justify-between gap-2"}>
      <span className={compact ? "sr-only" : "text-small text-muted"}>Available</span>
      <span className="inline-flex items-center gap-1.5">
        <Money amount={wallet.available} className={`font-semibold ${isLow ? "text-amber" : ""}`} />
        {isLow && <span className="text-small text-amber">low</span>}
        {state === "lost" && (
          <span className="text-small text-amber" title="The live connection is lost. The page tries again by itself.">
            offline
          </span>
        )}
      </span>
    </div>
  )
}
