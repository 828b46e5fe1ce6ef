/** What the free runs of a turn may store and have stored, on top of what the turn has read. */
import type { FreeEffects } from "../../layers/guards/FreeTurn.ts"
import type { TurnRun, TurnView } from "../../layers/ledger/TurnStore.ts"
import { freeBytesOf } from "../../schema/wallet/FreeStorage.ts"

export const turnFree = ({ free, free_limit }: Pick<TurnView, "free" | "free_limit">) => {
  const reserved = new Map<string, bigint>()
  const stored = new Map<string, bigint>()
  const add = (to: Map<string, bigint>, org_id: string, bytes: bigint) => to.set(org_id, (to.get(org_id) ?? 0n) + bytes)
  return {
    /** The run with what decides whether it may be stored. */
    asked: (run: TurnRun): TurnRun => {
      if (run.hold > 0n || free_limit === 0n) return run
      const { org_id } = run
      const before = free.get(org_id) ?? { stored: 0n, reserved: 0n }
      return {
        ...run,
        free: {
          stored: before.stored + (stored.get(org_id) ?? 0n),
          reserved: before.reserved + (reserved.get(org_id) ?? 0n),
          asked: freeBytesOf(run) ?? 0n,
          limit: free_limit
        }
      }
    },
    /** What the admitted run may store. Null for a run with a hold. */
    admitted: (run: TurnRun): bigint | null => {
      const bytes = freeBytesOf(run)
      if (bytes !== null) add(reserved, run.org_id, bytes)
      return bytes
    },
    /** Counts what a run stored that was charged nothing. */
    stored: ({ org_id }: TurnRun, bytes: number | undefined) => {
      if (bytes !== undefined && bytes > 0) add(stored, org_id, BigInt(bytes))
    },
    effects: (): FreeEffects => ({ reserved, stored })
  }
}
