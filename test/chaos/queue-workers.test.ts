/** A queue worker on PostgreSQL that starts while the server is away takes jobs once the server is back. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Context, Deferred, Effect, Layer, Logger, References } from "effect"
import { DatabaseLayer } from "../../src/layers/postgres/Database.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { Installation } from "../../src/layers/queues/Installation.ts"
import { Queues, runsQueue } from "../../src/layers/queues/Queues.ts"
import { Redis } from "../../src/layers/queues/Redis.ts"
import { until } from "./processes.ts"
import { breakablePostgres, type Server, stops } from "./servers.ts"

let postgres: Server
beforeAll(async () => {
  postgres = await breakablePostgres()
})
afterAll(() => postgres.end("SIGQUIT"))

test("a worker whose first connection was refused takes jobs once PostgreSQL is back", async () => {
  const logs: Array<string> = []
  const layer = Queues.layer.pipe(
    Layer.provide(Installation.layer),
    Layer.provide(Layer.merge(DatabaseLayer, Redis.layer)),
    Layer.provide(Settings.layerFrom({ DATABASE_URL: postgres.url, REDIS_URL: "" }))
  )
  const program = Effect.gen(function* () {
    const queues = Context.get(yield* Layer.build(layer), Queues)
    yield* Effect.promise(() => postgres.end(stops.fast))
    const taken = yield* Deferred.make<void>()
    yield* queues.work(runsQueue, Effect.asVoid(Deferred.succeed(taken, undefined)))
    yield* Effect.promise(() =>
      until("the refused connection", 10_000, () => logs.some((line) => line.startsWith(`worker ${runsQueue}: `)))
    )
    yield* Effect.promise(() => postgres.start())
    // Wake-ups are lost until the queue itself is connected again.
    const wakes = Effect.forever(Effect.andThen(queues.wake(runsQueue), Effect.sleep("200 millis")))
    return yield* Effect.raceFirst(Deferred.await(taken), wakes).pipe(Effect.timeoutOption("20 seconds"))
  })
  const outcome = await Effect.runPromise(
    Effect.scoped(program).pipe(
      Effect.provide(Logger.layer([Logger.make(({ message }) => void logs.push(String(message)))])),
      Effect.provideService(References.MinimumLogLevel, "Debug")
    )
  )
  expect(outcome._tag).toBe("Some")
})
