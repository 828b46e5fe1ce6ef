/**
 * Asks the wallet's turn to hold or return the money of allowances.
 *
 * Each step may be repeated. A turn applies each return once, so several processes do no harm.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { type AllowanceBudgets, AllowanceStore } from "../../layers/allowances/AllowanceStore.ts"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import { DueWork } from "../../layers/postgres/DueWork.ts"
import { allowanceMail } from "../../schema/wallet/AllowanceCommand.ts"
import { CommandClient } from "../mailbox/CommandClient.ts"

/** The wallet refused to hold the amount. */
export class NotHeld extends Schema.TaggedError<NotHeld>()("NotHeld", {
  /** As the turn says it (AllowanceRefusal). Only the operator can resume a suspended wallet. */
  why: Schema.String,
  message: Schema.String
}) {}

/** No turn has held the amount in time. Nobody gets the key, and the money is returned. */
export class NotHeldYet extends Schema.TaggedError<NotHeldYet>()("NotHeldYet", {}) {}

export class Allowances extends Context.Service<
  Allowances,
  {
    /** Holds the amount of a new allowance. `retried`: its request has an Idempotency-Key, so the client may ask again. */
    readonly hold: (minted: AllowanceBudgets, retried: boolean) => Effect.Effect<void, NotHeld | NotHeldYet>
    /** Returns the money of allowances whose keys have ended: of one organization, or of all. Safe to repeat. */
    readonly settle: (org_id: string | null) => Effect.Effect<void>
  }
>()("rungate/actors/allowances/Allowances") {
  static readonly layer = Layer.effect(
    Allowances,
    Effect.gen(function* () {
      const store = yield* AllowanceStore
      const accounts = yield* Accounts
      const commands = yield* CommandClient

      const ask = ({ org_id, budget_id, held_in }: AllowanceBudgets, act: "open" | "end") =>
        commands.ask(allowanceMail(org_id, { act, budget_id, held_in }))

      const hold = Effect.fn("Allowances.hold")(function* (minted: AllowanceBudgets, retried: boolean) {
        yield* crashPoint("allowance.stored")
        const drop = Effect.suspend(() =>
          retried ? Effect.void : Effect.asVoid(accounts.revokeKey(minted.org_id, minted.key_id))
        )
        const reply = yield* ask(minted, "open").pipe(
          Effect.catchTag("NoReplyYet", () => Effect.andThen(drop, Effect.fail(new NotHeldYet())))
        )
        yield* crashPoint("allowance.held")
        if (reply.verdict === "Refused") {
          yield* store.discard(minted)
          return yield* new NotHeld({
            why: reply.status ?? "insufficient_balance",
            message: reply.message ?? "the amount was not held"
          })
        }
        if (reply.verdict === "Opened") return
        const now = yield* store.state(minted.budget_id)
        if (now?.state === "open") return
        // An earlier request with the Idempotency-Key was refused, and nobody has got that answer: the next one begins anew. Otherwise a
        // process of an earlier release took the command.
        yield* now?.state === "closed" && now.usable ? store.discard(minted) : drop
        return yield* new NotHeldYet()
      })

      const settle = Effect.fn("Allowances.settle")(function* (org_id: string | null) {
        for (const due of yield* store.due(org_id)) yield* Effect.ignore(ask(due, "end"))
      })

      return Allowances.of({ hold, settle })
    })
  )
}

/** Returns what a killed process left behind, and the money of allowances that have expired. Every worker process does it. */
export const AllowanceWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const [allowances, store] = [yield* Allowances, yield* AllowanceStore]
    const pass = Effect.andThen(store.giveUp, allowances.settle(null))
    yield* (yield* DueWork).whenDue("allowances", AllowanceStore.due, pass)
  })
)
