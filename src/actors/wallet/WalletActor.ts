/**
 * Takes turns: one turn reads a lane's commands, decides them in order, and commits all results at once.
 *
 * A turn is two SQL statements with pure code between them, or one when this process remembers what it would read, so nothing slow happens in it and no provider is called. A run that is
 * admitted while this process has a free slot is leased to it in the same commit. Otherwise it waits in the queue.
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Schema } from "effect"
import { SqlError } from "effect/sql"
import { oneLine } from "../../layers/postgres/Batch.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { countTurn } from "../../layers/observability/Meters.ts"
import { sqlStateOf } from "../../layers/postgres/connection/SqlState.ts"
import { MailStore } from "../../layers/ledger/MailStore.ts"
import { TurnStore } from "../../layers/ledger/TurnStore.ts"
import { DirectCommands, type Offered } from "../mailbox/DirectCommands.ts"
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
  orgs: [],
  available: new Map(),
  at: new Date(0),
  direct: false,
  requeued: false
}

const names: Names = {
  txn_id: () => newId("txn"),
  payment_id: () => newId("pay"),
  token: () => crypto.randomUUID()
}

/** Commands per turn: enough for every client of a busy process, and few enough that a turn takes milliseconds. */
const turnMax = 500
/** A command that fails this often on its own is dead-lettered. */
const deadLetterAfter = 5

/** SQLSTATE classes that blame the command, such as 22: a string that Postgres can't read. */
const blamedClasses = ["21", "22", "23", "44", "54", "P0"]
const blamed = ["UniqueViolation", "ConstraintError", "SqlSyntaxError"]
const isSqlError = Schema.is(SqlError.SqlError)

/** The database was unavailable or busy. No command is to blame, and the sweeper retries the turn. */
const isTransient = (cause: Cause.Cause<unknown>): boolean => {
  const error = Cause.squash(cause)
  if (!isSqlError(error)) return false
  return !blamed.includes(error.reason._tag) && !blamedClasses.includes(sqlStateOf(error)?.slice(0, 2) ?? "")
}

export class WalletActor extends Context.Service<
  WalletActor,
  {
    /** With `mayRecall`, a turn of direct commands may leave the mailbox unread. Only for a caller that lets a reading turn follow. */
    readonly turn: (lane: number, mayRecall?: boolean) => Effect.Effect<TurnAnswer>
  }
>()("rungate/actors/wallet/WalletActor") {
  static readonly layer = Layer.effect(
    WalletActor,
    Effect.gen(function* () {
      const store = yield* TurnStore
      const mail = yield* MailStore
      const clock = yield* Clock.Clock
      const slots = yield* RunSlots
      const direct = yield* DirectCommands

      /** Takes a turn without resuming the senders of direct commands. Returns slots of runs that did not start. */
      const attemptOnce = (lane: number, max: number, offered: ReadonlyArray<Offered>, mayRecall: boolean) =>
        Effect.suspend(() => {
          const taken = new Set<string>()
          const room: Room = {
            workerId: slots.workerId(),
            tryTake: (run_id, claimant) => {
              if (!slots.tryTake(run_id, claimant)) return false
              taken.add(run_id)
              return true
            }
          }
          const commands = offered.map(({ command }) => command)
          const began = clock.monotonicTimeNanosUnsafe()
          return store
            .turn(lane, max, commands, mayRecall, (view) => decideTurn(view, room, names))
            .pipe(
              // Returns slots of runs whose turn was rolled back, or that ended in the turn that admitted them.
              Effect.onExit((exit) =>
                Effect.sync(() => {
                  const turn = Exit.isSuccess(exit) ? exit.value : null
                  if (turn !== null)
                    countTurn(
                      turn.taken + offered.length - turn.rejected.length,
                      Number(clock.monotonicTimeNanosUnsafe() - began) / 1e9
                    )
                  for (const { run_id } of turn?.started ?? []) taken.delete(run_id)
                  for (const run_id of taken) slots.giveBack(run_id)
                  slots.queued(turn?.queued ?? [])
                })
              )
            )
        })

      const attempt = (lane: number, max: number, offered: ReadonlyArray<Offered>, mayRecall: boolean) =>
        attemptOnce(lane, max, offered, mayRecall).pipe(
          // What this process remembered has changed meanwhile.
          Effect.catch((conflict) => (conflict.read ? Effect.fail(conflict) : attemptOnce(lane, max, offered, false))),
          Effect.onExit((exit) =>
            Effect.sync(() => {
              const turn = Exit.isSuccess(exit) ? exit.value : null
              const rejected = new Set(turn?.rejected)
              for (const { command, resume } of offered) resume(turn === null || rejected.has(command) ? null : turn.at)
            })
          ),
          Effect.map(
            (answer): TurnAnswer =>
              answer === null
                ? nothing
                : { ...answer, more: answer.taken >= max || answer.requeued, direct: offered.length > 0 }
          ),
          // Another turn of the lane committed first. The next turn sees the remaining commands.
          Effect.catch(() => Effect.succeed<TurnAnswer>({ ...nothing, more: true }))
        )

      /** Applies one command at a time, to find the one that fails and dead-letter it after a few tries. */
      const oneByOne = (lane: number, cause: Cause.Cause<never>) =>
        Effect.gen(function* () {
          yield* Effect.logWarning(`lane ${lane}: a turn failed; retrying it one command at a time: ${oneLine(cause)}`)
          const exit = yield* Effect.exit(attempt(lane, 1, [], false))
          if (Exit.isSuccess(exit)) return exit.value
          if (isTransient(exit.cause)) return yield* Effect.failCause(exit.cause)
          const { fate, command, ended } = yield* mail.recordFailure(lane, deadLetterAfter, oneLine(exit.cause))
          const what = fate === "kept" ? "will be retried" : "is dead-lettered; see rungate audit"
          yield* Effect.logError(`lane ${lane}: ${command} failed alone and ${what}: ${Cause.pretty(exit.cause)}`)
          return { ...nothing, more: true, signals: ended === null ? [] : [ended] }
        })

      const decide = Effect.fnUntraced(function* (lane: number, offered: ReadonlyArray<Offered>, mayRecall: boolean) {
        const exit = yield* Effect.exit(attempt(lane, turnMax, offered, mayRecall))
        if (Exit.isSuccess(exit)) return exit.value
        if (Cause.hasInterruptsOnly(exit.cause) || isTransient(exit.cause)) return yield* Effect.failCause(exit.cause)
        // A direct command may be to blame. All of them go into the mailbox now, where each is tried alone.
        if (offered.length > 0) return { ...nothing, more: true }
        return yield* oneByOne(lane, exit.cause)
      })

      // Whatever interrupts a turn, nobody waits for it any longer. Who was resumed before is not resumed again.
      const turn = (lane: number, mayRecall = false) =>
        Effect.acquireUseRelease(
          Effect.sync(() => direct.take(lane)),
          (offered) => decide(lane, offered, mayRecall),
          (offered) =>
            Effect.sync(() => {
              for (const { resume } of offered) resume(null)
            })
        )

      return WalletActor.of({ turn })
    })
  )
}
