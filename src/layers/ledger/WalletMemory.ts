/**
 * What the last turns of this process read and wrote of wallets, so that a turn of direct commands may need no reading.
 *
 * It is never believed. The statement that writes a turn requires the version of every wallet, live API keys, room for the admitted runs
 * and the database's time. If one of them differs, the turn is rolled back and reads everything (see TurnStore.ts). A process that stores
 * commands tells the one that has the lane, whose next turn reads. A turn also reads when the last reading of its lane is a fraction of a
 * second old, so that stored commands wait no longer than that when the signal was lost.
 */
import { Context } from "effect"
import type { SqlClient } from "effect/sql"
import { recalledSecondsMax, turnMinutesMax } from "../../schema/wallet/TurnTime.ts"
import type { Wallet } from "../../schema/wallet/Wallet.ts"
import type { BudgetView, ReadBudget } from "./BudgetTurn.ts"
import { type DirectCommand, liveKeyOf, walletRow } from "./DirectCommands.ts"
import type { TurnEffects } from "./TurnStore.ts"
import type { CommandRow } from "./TurnView.ts"

/** Milliseconds after which a lane is read again. Tests lengthen them. */
export const RecallMillis = Context.Reference("rungate/layers/ledger/RecallMillis", { defaultValue: () => 250 })
/** Minutes between a turn's reading and its writing, at most. Tests shorten them. */
export const TurnMinutes = Context.Reference("rungate/layers/ledger/TurnMinutes", {
  defaultValue: () => turnMinutesMax
})
const walletsMax = 10_000
const keysMax = 50_000

/** Condition of the turn's statement: the turn's time is the database's, before or after by no more than that. */
export const isTimely = (sql: SqlClient.SqlClient, now_micros: bigint, wasRead: boolean, minutes: number) => sql`
                            AND abs((extract(epoch FROM now()) * 1000000)::bigint - ${now_micros}::bigint)
                                < ${(wasRead ? minutes * 60 : recalledSecondsMax) * 1_000_000}::bigint`

interface LaneMemory {
  readonly rows: Map<string, CommandRow>
  readonly budgets: Map<string, ReadBudget>
  /** The last reading: when by this process's clock, in milliseconds, and by the database's. */
  readAt: number
  day: string
  now_micros: bigint
}

/** A wallet after a turn. */
export interface Written {
  readonly wallet: Wallet
  readonly version: bigint
  readonly head: Uint8Array | null
  readonly open_runs: bigint
  readonly free_used: bigint
}

const dayOf = (micros: bigint): string => new Date(Number(micros / 1000n)).toISOString().slice(0, 10)

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
    /** The rows that a reading would give, for direct commands whose wallets are all remembered. Null when the turn must read. */
    recall: (lane: number, commands: ReadonlyArray<DirectCommand>): ReadonlyArray<CommandRow> | null => {
      const memory = lanes.get(lane)
      if (memory === undefined || commands.length === 0) return null
      const since = now() - memory.readAt
      if (since > recallMillis) return null
      const now_micros = memory.now_micros + BigInt(Math.round(since * 1000))
      if (dayOf(now_micros) !== memory.day) return null
      const rows = new Map<string, CommandRow>()
      const live = new Map<string, Array<string>>()
      for (const command of commands) {
        const { org_id } = command.run
        const row = memory.rows.get(org_id)
        const key = keyOf(command)
        if (row === undefined || (key !== null && seen.has(key))) return null
        if (command._tag === "Reserve" && command.run.key_id !== null) {
          const keys = live.get(org_id)
          if (keys === undefined) live.set(org_id, [liveKeyOf(command.run)])
          else keys.push(liveKeyOf(command.run))
        }
        rows.set(org_id, row)
      }
      return Array.from(rows, ([org_id, row]) => ({ ...row, now_micros, live_keys: live.get(org_id) ?? [] }))
    },

    /** Keeps a reading's time. */
    read: (lane: number, { day, now_micros }: Pick<CommandRow, "day" | "now_micros">) => {
      const memory = lanes.get(lane)
      if (memory === undefined) lanes.set(lane, { rows: new Map(), budgets: new Map(), readAt: now(), day, now_micros })
      else {
        // What was stored at no charge was another day's.
        if (day !== memory.day) memory.rows.clear()
        Object.assign(memory, { readAt: now(), day, now_micros })
      }
    },

    /** Keeps the wallets that a turn has written, and the keys of the runs that it admitted. */
    wrote: (lane: number, wallets: ReadonlyArray<Written>, admitted: ReadonlyArray<DirectCommand>) => {
      const memory = lanes.get(lane)
      if (memory === undefined) return
      if (memory.rows.size + wallets.length > walletsMax) memory.rows.clear()
      for (const { wallet, version, head, open_runs, free_used } of wallets) {
        const { org_id, ...amounts } = wallet
        memory.rows.set(org_id, {
          ...emptyRow,
          ...amounts,
          org_id,
          day: memory.day,
          wallet_lane: lane,
          version,
          head,
          open_runs,
          free_used
        })
      }
      if (seen.size > keysMax) seen.clear()
      for (const command of admitted) {
        const key = keyOf(command)
        if (key !== null) seen.add(key)
      }
    },

    /** The budgets with these ids, and their parents. Null if one is not remembered. */
    budgets: (lane: number, ids: ReadonlySet<string>): BudgetView | null => {
      const found = new Map<string, ReadBudget>()
      for (const id of ids) {
        const one = lanes.get(lane)?.budgets.get(id)
        if (one === undefined) return null
        found.set(id, one)
        if (one.parent_id === null) continue
        const parent = lanes.get(lane)?.budgets.get(one.parent_id)
        if (parent === undefined) return null
        found.set(one.parent_id, parent)
      }
      return found
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
        const told = budget_alerts.find((one) => one.budget_id === budget_id)?.told ?? before.told
        memory.budgets.set(budget_id, { ...before, budget, version: before.version + 1n, told })
      }
    },

    /** Forgets wallets that have automatic top-ups, whose turns need more than the wallet, and those of which a turn refuses a run. */
    drop: (lane: number, org_ids: Iterable<string>) => {
      const memory = lanes.get(lane)
      for (const org_id of org_ids) memory?.rows.delete(org_id)
    },

    forget: (lane: number) => {
      lanes.delete(lane)
    }
  }
}

/** A row that carries only a wallet. */
export const emptyRow: CommandRow = {
  id: null,
  command_id: null,
  org_id: "",
  run_id: null,
  tag: walletRow,
  payload: null,
  day: "",
  now_micros: 0n,
  wallet_lane: null,
  version: null,
  balance: null,
  reserved: null,
  entry_seq: null,
  head: null,
  per_run_limit: null,
  daily_limit: null,
  allowances_held: null,
  spent_day: null,
  spent: null,
  suspended: null,
  open_runs: null,
  free_used: null,
  held_keys: null,
  live_keys: null,
  status: null,
  hold: null,
  lease_token: null,
  capability: null,
  endpoint: null,
  budget_id: null,
  key_id: null,
  input_hash: null,
  tries: null,
  buys: null,
  plan: null,
  input: null,
  request_bytes: null,
  credited: null,
  auto: null
}
