/** Background work starts when a look finds it due, when it is woken, and when nobody can tell: never twice at once. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Effect, Layer, ManagedRuntime, type Scope } from "effect"
import { Settings } from "../../../src/layers/platform/Settings.ts"
import { DueSeconds } from "../../../src/layers/postgres/connection/KeepAwake.ts"
import { DatabaseLayer } from "../../../src/layers/postgres/Database.ts"
import { DueWork } from "../../../src/layers/postgres/DueWork.ts"
import { preparedDatabase } from "../../kit/postgres.ts"

const runtimeOn = (databaseUrl: string) => {
  const surroundings = Layer.merge(
    Settings.layerFrom({ DATABASE_URL: databaseUrl, RUNGATE_DATABASE_CONNECTIONS: "2" }),
    Layer.succeed(DueSeconds, 0.01)
  )
  return ManagedRuntime.make(DatabaseLayer.pipe(Layer.provideMerge(surroundings)))
}
let runtime: ReturnType<typeof runtimeOn>
beforeAll(async () => {
  runtime = runtimeOn(await preparedDatabase())
})
afterAll(() => runtime.dispose())

/** A loop whose condition the test sets, and how often it ran. */
const loop = (name: string, condition: string) =>
  Effect.gen(function* () {
    const state = { due: condition, passes: 0 }
    const pass = Effect.sync(() => {
      state.passes += 1
    })
    yield* (yield* DueWork).whenDue(name, () => state.due, pass)
    return state
  })
/** Runs until so many further passes of a loop that is always due. */
const looks = Effect.fnUntraced(function* (state: { readonly passes: number }, count: number) {
  const until = state.passes + count
  while (state.passes < until) yield* Effect.sleep("5 millis")
})
const within = <A, E>(work: Effect.Effect<A, E, DueWork | Scope.Scope>) => runtime.runPromise(Effect.scoped(work))

test("a loop runs once at its start, and then when a look finds its condition", () =>
  within(
    Effect.gen(function* () {
      const clock = yield* loop("clock", "true")
      const orgs = yield* loop("organizations", "EXISTS (SELECT FROM orgs WHERE name = 'nobody')")
      yield* looks(clock, 5)
      expect(orgs.passes).toBe(1)
      orgs.due = "EXISTS (SELECT FROM pg_class)"
      yield* looks(orgs, 2)
    })
  ))

test("a condition that can't be read starts every loop until it can", () =>
  within(
    Effect.gen(function* () {
      const idle = yield* loop("idle", "false")
      const broken = yield* loop("broken", "EXISTS (SELECT FROM no_such_table)")
      yield* looks(idle, 3)
      yield* looks(broken, 3)
      broken.due = "true"
      yield* looks(broken, 3)
      const { passes } = idle
      yield* looks(broken, 5)
      expect(idle.passes).toBe(passes)
    })
  ))

test("a start during a pass makes one more follow, and passes never overlap", () =>
  within(
    Effect.gen(function* () {
      const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      let [passes, current, most] = [0, 0, 0]
      const pass = Effect.promise(async () => {
        passes += 1
        most = Math.max(most, (current += 1))
        begun.resolve()
        await finish.promise
        current -= 1
      })
      const start = yield* (yield* DueWork).whenDue("slow", () => "false", pass)
      const clock = yield* loop("clock", "true")
      yield* Effect.promise(() => begun.promise)
      for (let times = 0; times < 5; times++) start()
      yield* looks(clock, 3)
      expect(passes).toBe(1)
      finish.resolve()
      while (passes < 2) yield* Effect.sleep("5 millis")
      yield* looks(clock, 3)
      expect({ passes, most }).toEqual({ passes: 2, most: 1 })
    })
  ))

test("a failed pass is repeated, and one whose scope has closed is not", async () => {
  let passes = 0
  const failing = Effect.suspend(() => {
    passes += 1
    return Effect.die(new Error("away"))
  })
  await within(
    Effect.gen(function* () {
      yield* (yield* DueWork).whenDue("failing", () => "true", failing)
      while (passes < 3) yield* Effect.sleep("5 millis")
    })
  )
  const before = passes
  await within(Effect.flatMap(loop("clock", "true"), (clock) => looks(clock, 5)))
  expect(passes).toBe(before)
})
