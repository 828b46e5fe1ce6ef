/**
 * `it.effect` for bun:test: runs an Effect with a test clock and a scope of its own.
 *
 * @effect/vitest needs Vitest, so this is the piece of it that we use.
 */
import { test } from "bun:test"
import { Effect, Layer, type Scope } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { slowness, testMillis } from "./slowness.ts"

const TestServices = Layer.mergeAll(TestClock.layer(), TestConsole.layer)

type Body<R> = () => Effect.Effect<unknown, unknown, R>

/** Virtual time; fails the test on any failure, defect or interruption. */
export const effect = (name: string, body: Body<Scope.Scope>, timeoutMillis = 5_000 * slowness) =>
  test(
    name,
    () => Effect.runPromise(Effect.scoped(Effect.suspend(body)).pipe(Effect.provide(TestServices))).then(() => {}),
    timeoutMillis
  )

/** Real time, for tests that touch Postgres, Redis or a socket. */
export const live = (name: string, body: Body<Scope.Scope>, timeoutMillis = testMillis) =>
  test(name, () => Effect.runPromise(Effect.scoped(Effect.suspend(body))).then(() => {}), timeoutMillis)

/** The same two, with a layer under every test of a file. */
export const withLayer = <R, E>(layer: Layer.Layer<R, E>) => ({
  effect: (name: string, body: Body<R | Scope.Scope>) => effect(name, () => Effect.provide(body(), layer)),
  live: (name: string, body: Body<R | Scope.Scope>) => live(name, () => Effect.provide(body(), layer))
})
