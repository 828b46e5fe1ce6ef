/**
 * Returns the money of allowances that have expired or were revoked. Every worker process does it. A turn applies each return once, so
 * several processes and repeats do no harm.
 */
import { Effect, Layer } from "effect"
import { AllowanceStore } from "../../layers/allowances/AllowanceStore.ts"
import { DueWork } from "../../layers/postgres/DueWork.ts"
import { Allowances } from "./Allowances.ts"

export const AllowanceWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const [allowances, store] = [yield* Allowances, yield* AllowanceStore]
    const pass = Effect.andThen(store.giveUp, allowances.settle(null))
    yield* (yield* DueWork).whenDue("allowances", AllowanceStore.due, pass)
  })
)
