/**
 * What the last turns of this process read and wrote of wallets, so that a turn of direct commands may need no reading.
 *
 * It is never believed. The statement that writes a turn requires the version of every wallet, live API keys, room for the admitted runs
 * and the database's time. If one of them differs, the turn is rolled back and reads everything (see TurnStore.ts). A process that stores
 * commands tells the one that has the lane, whose next turn reads. A turn also reads when the last reading of its lane is a fraction of a
 * second old, so that stored commands wait no longer than that when the signal was lost.
 */
import { Context } from "effect"
import { dayAt } from "../../schema/money/SpendDay.ts"
import { turnMinutesMax } from "../../schema/wallet/TurnTime.ts"
import { noRepeats } from "../guards/RepeatTurn.ts"
import type { BudgetView, ReadBudget } from "./BudgetTurn.ts"
import { type DirectCommand, liveKeyOf } from "./DirectCommands.ts"
import type { TurnEffects, TurnRead, TurnWallet } from "./Turn.ts"

/** Milliseconds after which a lane is read again. Tests lengthen them. */
export const RecallMillis = Context.Reference("rungate/layers/ledger/RecallMillis", { defaultValue: () => 250 })
/** Minutes between a turn's reading and its writing, at most. Tests shorten them. */
export const TurnMinutes = Context.Reference("rungate/layers/ledger/TurnMinutes", {
  defaultValue: () => turnMinutesMax
})
const walletsMax = 10_000
const keysMax = 50_000

interface LaneMemory {
  readonly wallets: Map<string, TurnWallet>
  readonly budgets: Map<string, ReadBudget>
  /** The last reading: when by this process's clock, in milliseconds, and by the database's. */
  readAt: number
  day: string
  now_micros: bigint
}

/** A reading without stored commands. */
const nothingStored: Omit<TurnRead, "wallets" | "day" | "now_micros" | "liveKeys"> = {
  commands: [],
  runs: new Map(),
  autos: new Map(),
  repeats: noRepeats,
  credited: new Map(),
  heldKeys: new Set()
}

/** `now` returns milliseconds of a clock that never goes back. A lane is read again after `recallMillis`. */
export const walletMemory = (now: () => number, recallMillis: number) => {
  const lanes = new Map<number, LaneMemory>()
  /** Organization and Idempotency-Key of runs that this process has admitted. A repeat is probably one of them, so its turn reads. */
  const seen = new Set<string>()
  const keyOf = (command: DirectCommand): string | null =>
    command._tag === "Reserve" && command.run.idempotency_key !== null
      ? `${command.run.org_id} ${command.run.idempotency_key}`
      : null

  return {
    /** What a reading would give, for direct commands whose wallets are all remembered. Null when the turn must read. */
    recall: (lane: number, direct: ReadonlyArray<DirectCommand>): TurnRead | null => {
      const memory = lanes.get(lane)
      if (memory === undefined || direct.length === 0) return null
      const since = now() - memory.readAt
      if (since > recallMillis) return null
      const now_micros = memory.now_micros + BigInt(Math.round(since * 1000))
      const { day } = memory
      if (dayAt(Number(now_micros / 1000n)) !== day) return null
      const wallets = new Map<string, TurnWallet>()
      const liveKeys = new Set<string>()
      for (const command of direct) {
        const { org_id } = command.run
        const wallet = memory.wallets.get(org_id)
        const key = keyOf(command)
        if (wallet === undefined || (key !== null && seen.has(key))) return null
        // Its day may have ended since.
        const zones = wallet.wallet.time_zones
        if (zones !== undefined && dayAt(Number(now_micros) / 1_000, zones) !== wallet.own_day) return null
        wallets.set(org_id, wallet)
        // The statement that writes the turn proves it.
        if (command._tag === "Reserve" && command.run.key_id !== null) liveKeys.add(liveKeyOf(command.run))
      }
      return { ...nothingStored, wallets, day, now_micros, liveKeys }
    },

    /** Keeps a reading's time. */
    read: (lane: number, { day, now_micros }: Pick<TurnRead, "day" | "now_micros">) => {
      const memory = lanes.get(lane)
      if (memory === undefined)
        lanes.set(lane, { wallets: new Map(), budgets: new Map(), readAt: now(), day, now_micros })
      else {
        // What was stored at no charge was another day's.
        if (day !== memory.day) memory.wallets.clear()
        Object.assign(memory, { readAt: now(), day, now_micros })
      }
    },

    /** Keeps the wallets that a turn has written, and the keys of the runs that it admitted. */
    wrote: (lane: number, wallets: ReadonlyArray<TurnWallet>, admitted: ReadonlyArray<DirectCommand>) => {
      const memory = lanes.get(lane)
      if (memory === undefined) return
      if (memory.wallets.size + wallets.length > walletsMax) memory.wallets.clear()
      for (const one of wallets) memory.wallets.set(one.wallet.org_id, one)
      if (seen.size > keysMax) seen.clear()
      for (const command of admitted) {
        const key = keyOf(command)
        if (key !== null) seen.add(key)
      }
    },

    /** The budgets with these ids, and their parents. Null if one is not remembered. */
    budgets: (lane: number, ids: ReadonlySet<string>): BudgetView | null => {
      const budgets = new Map<string, ReadBudget>()
      for (const id of ids) {
        const one = lanes.get(lane)?.budgets.get(id)
        if (one === undefined) return null
        budgets.set(id, one)
        if (one.parent_id === null) continue
        const parent = lanes.get(lane)?.budgets.get(one.parent_id)
        if (parent === undefined) return null
        budgets.set(one.parent_id, parent)
      }
      return budgets
    },

    /** Keeps the budgets that a turn has written. */
    keepBudgets: (
      lane: number,
      read: BudgetView,
      { budgets: written, budget_alerts }: Pick<TurnEffects, "budgets" | "budget_alerts">
    ) => {
      const memory = lanes.get(lane)
      if (memory === undefined) return
      if (memory.budgets.size + written.length > walletsMax) memory.budgets.clear()
      for (const budget of written) {
        const { budget_id } = budget
        const before = read.get(budget_id)
        if (before === undefined) continue
        const lastAlert = budget_alerts.find((one) => one.budget_id === budget_id)?.lastAlert ?? before.lastAlert
        const version = before.version === null ? 0n : before.version + 1n
        // Its day may end before that of the wallet.
        if (budget.zone === undefined) memory.budgets.set(budget_id, { ...before, budget, version, lastAlert })
        else memory.budgets.delete(budget_id)
      }
    },

    /** Forgets wallets that have automatic top-ups, whose turns need more than the wallet, and those of which a turn refuses a run. */
    drop: (lane: number, org_ids: Iterable<string>) => {
      const memory = lanes.get(lane)
      for (const org_id of org_ids) memory?.wallets.delete(org_id)
    },

    forget: (lane: number) => {
      lanes.delete(lane)
    }
  }
}
