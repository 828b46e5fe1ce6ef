/**
 * The wallet actor: one turn takes a lane's mail, decides every command in order and commits all of it at once.
 *
 * Pure deciding in between two statements: nothing slow happens inside a turn, above all no provider call. A run that is
 * admitted while this process has room is leased to it in the same commit; otherwise it waits in the queue.
 */
import { Cause, Context, Effect, Exit, Layer, Schema } from "effect"
import { SqlError } from "effect/sql"
import { oneLine } from "../../layers/postgres/Batch.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { sqlStateOf } from "../../layers/postgres/SqlState.ts"
import { TurnStore } from "../../layers/ledger/TurnStore.ts"
import { RunSlots } from "../runs/RunSlots.ts"
import { decideTurn, type Names, type Room, type TurnAnswer } from "./DecideTurn.ts"

const nothing: TurnAnswer = {
  taken: 0,
  more: false,
  started: [],
  queued: [],
  ended: [],
  losses: [],
  charges: false,
  mismatches: [],
  signals: [],
  committed_at: new Date(0)
}

const names: Names = {
  txn_id: () => newId("txn"),
  payment_id: () => newId("pay"),
  token: () => crypto.randomUUID()
}

/** Commands in one group commit: enough for every client of a busy process, few enough to stay in the milliseconds. */
const turnMax = 500
/** A command that fails alone this often is dead-lettered. */
const failuresMax = 5

/** SQLSTATE classes by which Postgres refuses what a command says, such as 22: a string that it can't read. */
const blamedClasses = ["21", "22", "23", "44", "54", "P0"]
const blamed = ["UniqueViolation", "ConstraintError", "SqlSyntaxError"]
const isSqlError = Schema.is(SqlError.SqlError)

/** The database was away or busy: no command is to blame, and the sweeper tries again. */
const passesByItself = (cause: Cause.Cause<unknown>): boolean => {
  const found = Cause.squash(cause)
  if (!isSqlError(found)) return false
  return !blamed.includes(found.reason._tag) && !blamedClasses.includes(sqlStateOf(found)?.slice(0, 2) ?? "")
}

export class WalletActor extends Context.Service<
  WalletActor,
  { readonly turn: (lane: number) => Effect.Effect<TurnAnswer> }
>()("rungate/actors/wallet/WalletActor") {
  static readonly layer = Layer.effect(
    WalletActor,
    Effect.gen(function* () {
      const store = yield* TurnStore
      const executions = yield* RunSlots

      const attempt = (lane: number, max: number) =>
        Effect.suspend(() => {
          const taken = new Set<string>()
          const room: Room = {
            workerId: executions.workerId(),
            tryTake: (run_id, claimant) => {
              if (!executions.tryTake(run_id, claimant)) return false
              taken.add(run_id)
              return true
            }
          }
          return store
            .turn(lane, max, (view) => decideTurn(view, room, names))
            .pipe(
              // Slots taken for runs whose turn was undone, or that ended in the turn that opened them.
              Effect.onExit((exit) =>
                Effect.sync(() => {
                  if (Exit.isSuccess(exit)) for (const { run_id } of exit.value?.started ?? []) taken.delete(run_id)
                  for (const run_id of taken) executions.giveBack(run_id)
                })
              ),
              Effect.map(
                (answer): TurnAnswer => (answer === null ? nothing : { ...answer, more: answer.taken >= max })
              ),
              // Another turn was quicker; what it left is seen by the next one.
              Effect.catch(() => Effect.succeed<TurnAnswer>({ ...nothing, more: true }))
            )
        })

      /** One command at a time, so that the one that can't be applied is found and dead-lettered after a few tries. */
      const cautiously = (lane: number, cause: Cause.Cause<never>) =>
        Effect.gen(function* () {
          yield* Effect.logWarning(`lane ${lane}: a turn failed and is tried command by command: ${oneLine(cause)}`)
          const exit = yield* Effect.exit(attempt(lane, 1))
          if (Exit.isSuccess(exit)) return { ...exit.value, more: exit.value.taken > 0 }
          if (passesByItself(exit.cause)) return yield* Effect.failCause(exit.cause)
          const { fate, command, ended } = yield* store.recordFailure(lane, failuresMax, oneLine(exit.cause))
          const what = fate === "kept" ? "is tried again" : "is dead-lettered; see rungate audit"
          yield* Effect.logError(`lane ${lane}: ${command} failed alone and ${what}: ${Cause.pretty(exit.cause)}`)
          return { ...nothing, more: true, signals: ended === null ? [] : [ended] }
        })

      const turn = Effect.fnUntraced(function* (lane: number) {
        const exit = yield* Effect.exit(attempt(lane, turnMax))
        if (Exit.isSuccess(exit)) return exit.value
        if (Cause.hasInterruptsOnly(exit.cause) || passesByItself(exit.cause))
          return yield* Effect.failCause(exit.cause)
        return yield* cautiously(lane, exit.cause)
      })

      return WalletActor.of({ turn })
    })
  )
}
