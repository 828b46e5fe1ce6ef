/** What the runs of a turn that cost nothing may store and have stored, on top of what the turn has read. */
import type { FreeEffects } from "../../layers/guards/FreeTurn.ts"
import type { TurnRun, TurnView } from "../../layers/ledger/Turn.ts"
import { freeBytesOf, freeExceeded, type FreeUse, runRowBytes } from "../../schema/wallet/FreeStorage.ts"

export const turnFree = ({ free, free_limit }: Pick<TurnView, "free" | "free_limit">) => {
  const open = new Map<string, bigint>()
  /** What open runs may store and what is copied: the turn's statement checks that both fit. */
  const reserved = new Map<string, bigint>()
  const stored = new Map<string, bigint>()
  const add = (to: Map<string, bigint>, org_id: string, bytes: bigint) => to.set(org_id, (to.get(org_id) ?? 0n) + bytes)
  const useOf = (org_id: string, requested: bigint): FreeUse => {
    const before = free.get(org_id) ?? { stored: 0n, reserved: 0n }
    return {
      stored: before.stored + (stored.get(org_id) ?? 0n),
      reserved: before.reserved + (open.get(org_id) ?? 0n),
      requested,
      limit: free_limit
    }
  }
  return {
    /** The run with what decides whether it may be stored. */
    withFree: (run: TurnRun): TurnRun => {
      const bytes = free_limit === 0n ? null : freeBytesOf(run)
      return bytes === null ? run : { ...run, free: useOf(run.org_id, bytes) }
    },
    /** Counts the copy of an earlier result. Returns why it is not made. */
    copied: ({ org_id }: TurnRun, size: number): string | null => {
      const bytes = BigInt(size)
      const full = free_limit === 0n ? null : freeExceeded(useOf(org_id, bytes))
      if (full !== null) return full
      add(reserved, org_id, bytes)
      add(stored, org_id, bytes)
      return null
    },
    /** What the admitted run counts while it is open. Null for a run that can't end at no charge. */
    admitted: (run: TurnRun): bigint | null => {
      const bytes = freeBytesOf(run)
      if (bytes !== null) for (const to of [open, reserved]) add(to, run.org_id, bytes)
      return bytes
    },
    /** Counts what a run stored that was charged nothing. */
    stored: ({ org_id }: TurnRun, bytes: number | undefined) => {
      if (bytes !== undefined && bytes > 0) add(stored, org_id, BigInt(bytes))
    },
    /** Counts the request of a run that the turn ends without a call, as it is refused or cancelled. */
    refused: ({ org_id, request_bytes }: TurnRun) => add(stored, org_id, runRowBytes + BigInt(request_bytes?.() ?? 0)),
    effects: (): FreeEffects => ({ reserved, stored })
  }
}
