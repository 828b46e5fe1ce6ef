/** A pool in which everybody waits is woken by more statements than its connections carry, and an awake pool is only asked. */
import { expect } from "bun:test"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { keepAwake } from "../../../src/layers/postgres/connection/KeepAwake.ts"
import { effect } from "../../kit/effect-tests.ts"

/** As the driver's: `failed` connections are counted as connections, and so many statements wait without another one being opened. */
const sleepingPool = (failed: number) => {
  const opened = Deferred.makeUnsafe<void>()
  let waiting = 0
  let most = 0
  const ask = Effect.suspend(() => {
    waiting += 1
    most = Math.max(most, waiting)
    if (waiting > failed * 32) Deferred.doneUnsafe(opened, Effect.void)
    return Effect.ensuring(
      Deferred.await(opened),
      Effect.sync(() => {
        waiting -= 1
      })
    )
  })
  return { ask, opened, most: () => most }
}

effect("statements that wait for ever are answered after some seconds", () => {
  const pool = sleepingPool(3)
  return Effect.gen(function* () {
    const customer = yield* Effect.forkChild(pool.ask)
    const watching = yield* Effect.forkChild(keepAwake(pool.ask, 4))
    yield* TestClock.adjust("5 seconds")
    yield* Fiber.join(customer)
    const woken = pool.most()
    yield* TestClock.adjust("1 minute")
    expect(pool.most()).toBe(woken)
    yield* Fiber.interrupt(watching)
  })
})

effect("a server that is away and a pool that works are asked once at a time", () => {
  let asked = 0
  const ask = Effect.suspend(() => (asked++ % 2 === 0 ? Effect.fail("Connection refused") : Effect.void))
  return Effect.gen(function* () {
    const watching = yield* Effect.forkChild(keepAwake(ask, 4))
    yield* TestClock.adjust("10 seconds")
    yield* Fiber.interrupt(watching)
    expect(asked).toBe(10)
  })
})
