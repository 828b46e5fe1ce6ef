/**
 * Runs one turn of a lane: reads the oldest commands with the rows they concern, decides, and writes everything in one statement.
 *
 * That statement is the fence. It deletes the commands it applies, and it requires every wallet to have the version that was read.
 * Of two concurrent turns on one lane the second waits for the first one's row locks, finds a newer version, and is rolled back.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isRecord } from "../../schema/json/Json.ts"
import { allowanceBudgets } from "../../schema/wallet/AllowanceCommand.ts"
import { freeLimitOf } from "../../schema/wallet/FreeStorage.ts"
import { readApprovals } from "../guards/ApprovalTurn.ts"
import { contactingRuns, readContacts } from "../guards/ContactTurn.ts"
import { noFree, readFree } from "../guards/FreeTurn.ts"
import { askingRuns } from "../guards/RepeatTurn.ts"
import { readOptOuts } from "../guards/OptOutTurn.ts"
import { endingBuyers, readReuse, reuseAsks } from "../guards/ReuseTurn.ts"
import { crashPoint } from "../platform/CrashPoint.ts"
import { Settings } from "../platform/Settings.ts"
import { sqlStateOf } from "../postgres/connection/SqlState.ts"
import type { NewRun } from "../runs/NewRuns.ts"
import { noBudgets, readBudgets } from "./BudgetTurn.ts"
import { type DirectCommand, newRunsOf, sortDirect, withDirect } from "./DirectCommands.ts"
import { turnAsks, withNewValues } from "./LabelTurn.ts"
import { noPayments, readPayments } from "./PaymentTurn.ts"
import type { TurnEffects, TurnInput, TurnView } from "./Turn.ts"
import { readTurn } from "./TurnRead.ts"
import { turnWriter } from "./TurnWrite.ts"
import { RecallMillis, TurnMinutes, walletMemory } from "./WalletMemory.ts"

/** What the commit of a turn adds to its answer. */
export interface TurnCommit {
  /** The turn's time, which its ledger entries and the runs that it admits or ends have. */
  readonly at: Date
  /** Direct commands that the turn did not take. */
  readonly rejected: ReadonlyArray<DirectCommand>
  /** Organizations whose wallets it wrote. */
  readonly orgs: ReadonlyArray<string>
}

/** Another turn changed these rows first, or this one took too long, so it was rolled back. The next turn reads them again. */
export class TurnConflict extends Schema.TaggedError<TurnConflict>()("TurnConflict", {
  /** Whether the turn has read these rows. If not, a turn that reads them may succeed at once. */
  read: Schema.Boolean
}) {}

/**
 * Organizations of which the turn ends a direct run as it arrives. The write proves the wallets that a turn remembered, and of the budgets only
 * those that it changes, and nothing of what is stored at no charge. So a turn must read before it refuses a run.
 */
const refusedOf = ({ ended }: TurnEffects, arrived: ReadonlyArray<NewRun>): ReadonlyArray<string> => {
  if (ended.length === 0) return []
  const arrivedIds = new Set(arrived.map((run) => run.run_id))
  return ended.flatMap((run) => (arrivedIds.has(run.run_id) && run.reuse === undefined ? [run.org_id] : []))
}

/** SQLSTATE that only `rungate_turn_conflict()` raises. */
const turnConflict = "RG001"

/** Class of the SQLSTATEs of violated constraints, such as a second run with an Idempotency-Key. */
const constraintClass = "23"

export class TurnStore extends Context.Service<
  TurnStore,
  {
    /**
     * Takes up to `max` commands of a lane, oldest first, then the direct commands, and writes the effects that `decide` returns.
     * Returns decide's answer with the direct commands that were rejected, or null when there is no command. Dies when the database
     * refuses the statement. A failed turn writes nothing. With `mayRecall` it may take the direct commands alone and use what the last
     * turns of this process knew, without reading.
     */
    readonly turn: <A extends object>(
      lane: number,
      max: number,
      direct: ReadonlyArray<DirectCommand>,
      mayRecall: boolean,
      decide: (view: TurnView) => { readonly effects: TurnEffects; readonly answer: A }
    ) => Effect.Effect<(A & TurnCommit) | null, TurnConflict>
  }
>()("rungate/layers/ledger/TurnStore") {
  static readonly layer = Layer.effect(
    TurnStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      /** Reads after the commands. If another turn changed these rows in between, the wallet's version changed too and this turn is rolled back. */
      const paymentsOf = Effect.fnUntraced(function* (commands: TurnInput["commands"]) {
        const payments = commands.filter((row) => row.tag === "Pay")
        if (payments.length === 0) return noPayments
        const named = (key: string) =>
          payments.flatMap(({ payload }) => {
            const value = isRecord(payload) ? payload[key] : undefined
            return typeof value === "string" ? [value] : []
          })
        const orgs = [...new Set(payments.map((row) => row.org_id))]
        const cards = payments.flatMap(({ payload }) => {
          const fact = isRecord(payload) ? payload["fact"] : undefined
          const card = isRecord(fact) ? fact["card"] : undefined
          return typeof card === "string" ? [card] : []
        })
        return yield* readPayments(sql, { orgs, payment_ids: named("payment_id"), event_ids: named("event_id"), cards })
      })

      const { autoTopupDailyMax, freeDailyMb, orgQueue, repeatGuard } = yield* Settings
      const freeLimit = freeLimitOf(freeDailyMb)
      const minutes = yield* TurnMinutes
      const write = turnWriter(sql, { autoTopupDailyMax, freeLimit, orgQueue, repeatGuard, minutes })

      /** No statement if no run has a budget, or if this process remembers the budgets. Their versions prove the memory. */
      const budgetsOf = (lane: number, input: TurnInput, wasRead: boolean) => {
        const ids = new Set(input.commands.flatMap(allowanceBudgets))
        for (const { budget_id, label_budgets } of input.runs.values())
          for (const id of [budget_id, ...(label_budgets ?? [])]) if (id !== null) ids.add(id)
        const asks = turnAsks(input)
        for (const { budget_id } of asks) ids.add(budget_id)
        if (ids.size === 0) return Effect.succeed(noBudgets)
        const recalled = wasRead ? null : memory.budgets(lane, ids)
        if (recalled !== null) return Effect.succeed(recalled)
        const { now_micros } = input
        return Effect.flatMap(readBudgets(sql, [...ids], now_micros), (stored) =>
          withNewValues(sql, asks, stored, now_micros)
        )
      }

      const clock = yield* Clock.Clock
      const memory = walletMemory(() => Number(clock.monotonicTimeNanosUnsafe()) / 1e6, yield* RecallMillis)

      const turn = Effect.fnUntraced(function* <A extends object>(
        lane: number,
        max: number,
        direct: ReadonlyArray<DirectCommand>,
        mayRecall: boolean,
        decide: (view: TurnView) => { readonly effects: TurnEffects; readonly answer: A }
      ) {
        const recalled = mayRecall ? memory.recall(lane, direct) : null
        const wasRead = recalled === null
        let refuses = false
        const attempt = Effect.gen(function* () {
          const read = recalled ?? (yield* readTurn(sql, lane, max, direct, repeatGuard))
          if (read === null) return null
          if (wasRead) memory.read(lane, read)
          const { taken, rejected } = sortDirect(lane, direct, read, orgQueue, freeLimit)
          const input = withDirect(read, taken)
          const { commands, runs } = input
          const arrived = newRunsOf(taken)
          const payments = yield* paymentsOf(commands)
          const budgets = yield* budgetsOf(lane, input, wasRead)
          const asking = askingRuns(commands, runs)
          const contacting = contactingRuns(asking)
          const contacts = yield* readContacts(sql, contacting)
          const opt_outs = yield* readOptOuts(sql, contacting)
          const buyers = endingBuyers(commands, runs)
          const reuse = yield* readReuse(sql, reuseAsks(asking), buyers)
          const storing = [...asking, ...buyers.flatMap((run_id) => runs.get(run_id) ?? [])]
          const approvals = yield* readApprovals(sql, commands)
          const free = freeLimit === 0n ? noFree : yield* readFree(sql, storing)
          const { effects, answer } = decide({
            ...input,
            payments,
            budgets,
            contacts,
            opt_outs,
            reuse,
            approvals,
            free,
            free_limit: freeLimit,
            auto_topup_daily_max: autoTopupDailyMax,
            repeat_guard: repeatGuard
          })
          const refused = wasRead ? [] : refusedOf(effects, arrived)
          if (refused.length > 0) {
            memory.drop(lane, refused)
            refuses = true
            return yield* new TurnConflict({ read: false })
          }
          yield* crashPoint("turn.before_commit")
          const wallets = yield* write(lane, { ...input, budgets, contacts, opt_outs }, arrived, effects, wasRead)
          memory.wrote(lane, wallets, taken)
          memory.keepBudgets(lane, budgets, effects)
          memory.drop(lane, input.autos.keys())
          yield* crashPoint("turn.after_commit")
          const at = new Date(Number(input.now_micros / 1000n))
          return { ...answer, at, rejected, orgs: effects.wallets.map(({ org_id }) => org_id) }
        })
        return yield* attempt.pipe(
          Effect.onError(() => (refuses ? Effect.void : Effect.sync(() => memory.forget(lane)))),
          Effect.catchTag("SqlError", (error) => {
            const state = sqlStateOf(error)
            const conflicts = state === turnConflict || (!wasRead && state?.startsWith(constraintClass) === true)
            return conflicts ? Effect.fail(new TurnConflict({ read: wasRead })) : Effect.die(error)
          })
        )
      })

      return TurnStore.of({ turn })
    })
  )
}
