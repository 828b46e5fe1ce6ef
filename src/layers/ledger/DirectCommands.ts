/**
 * Commands that a turn takes from the memory of its own process.
 *
 * The process that takes a lane's turns need not store a command in the mailbox first: the turn that decides the command stores its
 * effects at once. A direct command that a turn can't take is rejected, and its sender stores it in the mailbox.
 */
import { dollars, MicroUsd } from "../../schema/money/Money.ts"
import type { SettleReport } from "../../schema/runs/SettleReport.ts"
import { storesNothing } from "../../schema/wallet/FreeStorage.ts"
import type { NewRun } from "../runs/NewRuns.ts"
import type { TurnCommand, TurnInput, TurnRead, TurnRun } from "./Turn.ts"

/** Admits a run that is not stored yet. */
export interface DirectReserve {
  readonly _tag: "Reserve"
  readonly run: NewRun
}

/** Settles a run that this process executed under its lease. */
export interface DirectSettle {
  readonly _tag: "Settle"
  readonly run: TurnRun
  readonly report: SettleReport
  /** JSON text that becomes the run's result; null when there is none. */
  readonly result: string | null
}

export type DirectCommand = DirectReserve | DirectSettle

/** The runs that direct commands admit. */
export const newRunsOf = (commands: ReadonlyArray<DirectCommand>): ReadonlyArray<NewRun> =>
  commands.flatMap((command) => (command._tag === "Reserve" ? [command.run] : []))

/** A key in the version that a run was checked against, as `live_keys` lists it. */
export const liveKeyOf = ({ key_id, key_version }: Pick<NewRun, "key_id" | "key_version">): string =>
  `${key_id} ${key_version}`

/** Organizations with a smaller limit of open runs get no direct admissions; see `room_for_runs`. */
const countedLimitMax = 200

/**
 * Splits direct commands into those that the turn can take and those that must be stored. A command is stored when its wallet has
 * moved to another lane, whose turns would meet this one's again and again. A run is stored when its Idempotency-Key is in use, when its
 * API key was revoked, has expired or was changed, or when its organization has a quarter of the open runs that it may have: then admissions
 * of all processes are counted under one lock; see `room_for_runs` in schema/runs.sql. A small limit is always counted under the lock, because
 * other processes could use up its rest between this turn's reading and its commit. So is a run that may not be stored (`storesNothing`), and one
 * whose organization is moving to another cell: then admission refuses it.
 */
export const sortDirect = (
  lane: number,
  commands: ReadonlyArray<DirectCommand>,
  read: TurnRead,
  orgQueue: number,
  freeLimit = 0n
): { readonly taken: ReadonlyArray<DirectCommand>; readonly rejected: ReadonlyArray<DirectCommand> } => {
  if (commands.length === 0) return { taken: [], rejected: [] }
  const openRuns = new Map(Array.from(read.wallets, ([org_id, { open_runs }]) => [org_id, Number(open_runs)]))
  for (const { tag, org_id } of read.commands)
    if (tag === "Reserve") openRuns.set(org_id, (openRuns.get(org_id) ?? 0) + 1)
  const keys = new Set(read.heldKeys)
  const taken: Array<DirectCommand> = []
  const rejected: Array<DirectCommand> = []
  const fits = (command: DirectCommand): boolean => {
    const { org_id } = command.run
    const before = read.wallets.get(org_id)
    if (before !== undefined && before.lane !== lane) return false
    if (command._tag === "Settle") return true
    const { key_id, idempotency_key, hold } = command.run
    const open = openRuns.get(org_id)
    if (before === undefined || open === undefined || before.moving !== undefined) return false
    const { balance, reserved, allowances_held } = before.wallet
    const isPayable = hold > 0n && hold <= balance - reserved + allowances_held
    // Whether the key has a scope is not known here. Admission knows it.
    if (storesNothing(before.free_used, freeLimit, isPayable, key_id !== null)) return false
    if (key_id !== null && !read.liveKeys.has(liveKeyOf(command.run))) return false
    if (orgQueue < countedLimitMax || 4 * (open + 1) > orgQueue) return false
    if (idempotency_key !== null) {
      const key = `${org_id} ${idempotency_key}`
      if (keys.has(key)) return false
      keys.add(key)
    }
    openRuns.set(org_id, open + 1)
    return true
  }
  for (const command of commands) (fits(command) ? taken : rejected).push(command)
  return { taken, rejected }
}

const commandOf = (command: DirectCommand): TurnCommand => ({
  id: null,
  command_id: null,
  org_id: command.run.org_id,
  run_id: command.run.run_id,
  tag: command._tag,
  payload: null,
  report: command._tag === "Settle" ? command.report : null,
  result: command._tag === "Settle" ? command.result : null
})

/** The run that a direct command names, before the turn. */
export const turnRunOf = (command: DirectCommand): TurnRun => {
  if (command._tag === "Settle") return command.run
  const { org_id, run_id, hold, capability, endpoint, budget_id, key_id, input_hash, plan, input, metadata } =
    command.run
  return {
    org_id,
    run_id,
    status: "created",
    hold: MicroUsd(hold),
    lease_token: null,
    capability,
    endpoint,
    method: null,
    ...(plan.total === undefined ? {} : { hold_max: dollars(plan.total.amount) }),
    budget_id,
    key_id,
    input_hash,
    metadata,
    owns: plan.own !== undefined,
    plan: () => plan,
    input,
    request_bytes: () => Buffer.byteLength(input + JSON.stringify(plan) + (metadata ?? ""))
  }
}

/** The input with the direct commands that the turn takes, after the commands of the mailbox. */
export const withDirect = (read: TurnInput, direct: ReadonlyArray<DirectCommand>): TurnInput => {
  if (direct.length === 0) return read
  const runs = new Map(read.runs)
  for (const command of direct) {
    const run = turnRunOf(command)
    // A stored command of this turn may name the run too, and then the row that was read counts.
    if (!runs.has(run.run_id)) runs.set(run.run_id, run)
  }
  return { ...read, commands: [...read.commands, ...direct.map(commandOf)], runs }
}
