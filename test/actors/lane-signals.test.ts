/** What processes tell each other about lanes: whoever has a lane hears at once that another process has stored commands for it. */
import { expect } from "bun:test"
import { Context, Effect, Fiber, Layer } from "effect"
import { Lanes } from "../../src/actors/mailbox/Lanes.ts"
import { Queues } from "../../src/layers/queues/Queues.ts"
import { Signals } from "../../src/layers/queues/Signals.ts"
import { live } from "../kit/effect-tests.ts"

/** Processes that share one bus of signals. Each sees its own signals too. */
const network = () => {
  const listeners = new Set<(ids: ReadonlyArray<string>) => void>()
  const sent: Array<string> = []
  const woken: Array<string> = []
  const signals = Layer.succeed(Signals, {
    publish: (ids) =>
      Effect.sync(() => {
        sent.push(...ids)
        for (const listener of listeners) listener(ids)
      }),
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  })
  const queues = Layer.succeed(Queues, {
    wake: (queue) => Effect.sync(() => void woken.push(queue)),
    releaseStalledJob: () => Effect.void,
    work: () => Effect.void,
    processDue: Effect.void,
    depth: Effect.succeed(0),
    backend: "redis"
  })
  const join = Effect.map(Layer.build(Layer.fresh(Lanes.layer).pipe(Layer.provide([signals, queues]))), (context) =>
    Context.get(context, Lanes)
  )
  return { sent, woken, join }
}

const soon = Effect.promise(() => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve))))

live("a process that has a lane hears of another process's commands, and nobody else takes it for its own", () => {
  const { sent, woken, join } = network()
  return Effect.gen(function* () {
    const [holder, other] = [yield* join, yield* join]
    const lane = holder.state(1)
    lane.turning = true
    const waiting = yield* Effect.forkChild(holder.awaitCommands(1, 60_000), { startImmediately: true })
    // Three commands that were stored together need one signal, and each may need the queue.
    for (let command = 0; command < 3; command++) yield* other.wake(1)
    yield* Fiber.join(waiting)
    expect([lane.dirty, lane.wanted]).toEqual([true, true])
    expect(sent).toHaveLength(1)
    expect(woken).toEqual(["lane-1", "lane-1", "lane-1"])
    expect([other.state(1).wanted, holder.state(0).wanted]).toEqual([false, false])
    // Its own commands need neither a signal nor the queue.
    lane.wanted = false
    lane.dirty = false
    yield* holder.wake(1)
    yield* soon
    expect([lane.dirty, lane.wanted, sent.length, woken.length]).toEqual([true, false, 1, 3])
  })
})

live(
  "a process whose turn of the lane is under way hears of another's commands, and reads them in its next turn",
  () => {
    const { join } = network()
    return Effect.gen(function* () {
      const [holder, other] = [yield* join, yield* join]
      holder.state(1).turning = true
      yield* other.wake(1)
      yield* soon
      expect(holder.state(1)).toMatchObject({ dirty: true, wanted: true })
    })
  }
)

live("a signal that a process sent itself does not make it let a lane go", () => {
  const { sent, join } = network()
  return Effect.gen(function* () {
    const lanes = yield* join
    // Stored before the process had the lane; the signal is sent afterwards.
    yield* lanes.wake(0)
    lanes.state(0).turning = true
    yield* soon
    expect([sent.length, lanes.state(0).wanted]).toEqual([1, false])
  })
})

live("a process that stops waits for no commands", () => {
  const { join } = network()
  return Effect.gen(function* () {
    const lanes = yield* join
    const waiting = yield* Effect.forkChild(lanes.awaitCommands(0, 60_000), { startImmediately: true })
    expect(lanes.state(0).stopWaiting).not.toBeNull()
    yield* lanes.close
    yield* Fiber.join(waiting)
    yield* lanes.awaitCommands(0, 60_000)
    expect(lanes.state(0).stopWaiting).toBeNull()
  })
})
