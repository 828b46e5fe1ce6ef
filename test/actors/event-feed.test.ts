/** The streams of one organization share the readings of its log. Each gets every event once, in whatever order the readings return. */
import { expect, test } from "bun:test"
import { Effect, Layer } from "effect"
import { type Connection, EventFeed, type StreamRequest } from "../../src/actors/events/EventFeed.ts"
import { EventLog, type LoggedEvent, type Query, type Reading } from "../../src/layers/events/EventLog.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { Signals } from "../../src/layers/queues/Signals.ts"

const org_id = "org_a"
const eventAt = (position: bigint): LoggedEvent => ({
  ...{ position, id: `evt_${position}`, kind: "wallet.changed", run_id: null, text: "{}" }
})

/** Everything that follows from what has happened. Nothing here waits for time. */
const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

/** A log whose readings return when the test says so. */
const heldLog = () => {
  const held = new Map<bigint, (reading: Reading) => void>()
  const after = ({ after: from }: Query) =>
    Effect.promise(() => new Promise<Reading>((release) => held.set(from, release)))
  return {
    /** Lets the reading return that continues after this position. PostgreSQL saw the log up to `head`. */
    release: async (from: bigint, head: bigint) => {
      const one = held.get(from)
      if (one === undefined) throw new Error(`no reading after ${from}, only ${[...held.keys()]}`)
      held.delete(from)
      const events = Array.from({ length: Number(head - from) }, (_, index) => eventAt(from + 1n + BigInt(index)))
      one({ events, position: head, dropped: 0n, began_at: new Date(0) })
      await settled()
    },
    layer: Layer.mock(EventLog, { after, heads: () => Effect.succeed(new Map()), listen: () => Effect.void })
  }
}

const readerOf = () => {
  const got: Array<bigint> = []
  const connection: Connection = {
    send: ({ position }) => got.push(position) > 0,
    beat: () => {},
    end: () => {}
  }
  return { got, connection }
}
const request = (after: bigint): StreamRequest => ({
  ...{ org_id, run_id: null, keys: null, kinds: null, after, credential: "key", isValid: Effect.succeed(true) }
})

/** Runs a test with a feed of this log. */
const withFeed = (
  log: ReturnType<typeof heldLog>,
  signals: Layer.Layer<Signals>,
  work: (feed: EventFeed["Service"]) => Promise<void>
) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.provide(
        Effect.flatMap(EventFeed, (feed) => Effect.promise(() => work(feed))),
        EventFeed.layer.pipe(Layer.provide(Layer.mergeAll(log.layer, signals, Settings.layerFrom({}))))
      )
    )
  )

test("a stream whose client leaves while it reads the log gets nothing more", async () => {
  const log = heldLog()
  const signals = Layer.succeed(Signals, { publish: () => Effect.void, listen: () => () => {} })
  const reader = readerOf()
  await withFeed(log, signals, async (feed) => {
    const stream = feed.open(request(0n), reader.connection)
    await settled()
    stream.close()
    await log.release(0n, 3n)
  })
  expect(reader.got).toEqual([])
})

test("a stream that catches up while the only live one ends misses nothing of a reading that is under way", async () => {
  const log = heldLog()
  const listeners = new Set<(ids: ReadonlyArray<string>) => void>()
  const signal = () => listeners.forEach((listener) => listener([org_id]))
  const signals = Layer.succeed(Signals, {
    publish: () => Effect.void,
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  })
  const [live, late] = [readerOf(), readerOf()]
  await withFeed(log, signals, async (feed) => {
    const first = feed.open(request(0n), live.connection)
    await settled()
    await log.release(0n, 0n)
    signal()
    signal()
    feed.open(request(1n), late.connection)
    await settled()
    // The second signal makes the feed read again, after the fifth event.
    await log.release(0n, 5n)
    first.close()
    await log.release(1n, 3n)
    await log.release(5n, 7n)
    await log.release(3n, 7n)
  })
  expect([live.got, late.got]).toEqual([
    [1n, 2n, 3n, 4n, 5n],
    [2n, 3n, 4n, 5n, 6n, 7n]
  ])
})
