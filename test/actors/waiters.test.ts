import { expect } from "bun:test"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Waiters } from "../../src/actors/mailbox/Waiters.ts"
import { Signals } from "../../src/layers/queues/Signals.ts"
import { WaitStore } from "../../src/layers/runs/WaitStore.ts"
import { effect } from "../kit/effect-tests.ts"

const silent = Layer.succeed(Signals, { publish: () => Effect.void, listen: () => () => {} })

effect("the poll leaves a run alone that is still being admitted, and finds it once its waiter waits", () => {
  const asked: Array<ReadonlyArray<string>> = []
  // The database takes a run that it does not have yet for a final one.
  const known = (ids: ReadonlyArray<string>) =>
    Effect.sync(() => {
      asked.push(ids)
      return ids
    })
  return Effect.gen(function* () {
    const waiters = yield* Waiters
    const admitted = yield* Deferred.make<string>()
    const waiting = yield* Effect.forkChild(
      waiters.waitFor("run_1", 60_000, Deferred.await(admitted), () => false),
      { startImmediately: true }
    )
    yield* TestClock.adjust("10 seconds")
    expect(asked).toEqual([])
    yield* Deferred.succeed(admitted, "admitted")
    yield* TestClock.adjust("10 seconds")
    expect(yield* Fiber.join(waiting)).toEqual({ answer: "admitted", signalled: true, end: undefined })
    expect(asked[0]).toEqual(["run_1"])
  }).pipe(
    Effect.provide(Waiters.layer.pipe(Layer.provide(Layer.merge(silent, Layer.succeed(WaitStore, { ended: known })))))
  )
})
