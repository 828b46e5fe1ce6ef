/**
 * Signals to all processes that runs ended or commands were answered, so that waiting requests continue at once.
 *
 * Signals within a process are direct function calls. Between processes they use Redis pub/sub or Postgres LISTEN/NOTIFY. A lost
 * signal only delays a waiter until its next poll.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Queue, Schedule } from "effect"
import { oneLine } from "../postgres/Batch.ts"
import { DirectClient } from "../postgres/Database.ts"
import { Installation } from "./Installation.ts"
import { Redis } from "./Redis.ts"

/** Says that webhooks are due. It has the form of no id. */
export const webhooksDue = "webhooks:due"

type Listener = (ids: ReadonlyArray<string>) => void

/** NOTIFY reaches all sessions of a database, also those of installations in other schemas. */
const postgresChannelOf = (schema: string) => `rungate_signals_${schema}`
/** A NOTIFY payload has at most 8,000 bytes, and an id has 30. */
const idsPerMessage = 200

const chunks = (ids: ReadonlyArray<string>) => {
  const parts: Array<ReadonlyArray<string>> = []
  for (let start = 0; start < ids.length; start += idsPerMessage) parts.push(ids.slice(start, start + idsPerMessage))
  return parts
}

export class Signals extends Context.Service<
  Signals,
  {
    /** Signals run ids and command ids. Returns at once and never fails. */
    readonly publish: (ids: ReadonlyArray<string>) => Effect.Effect<void>
    /** Registers a listener for all ids. Call the returned function to unregister it. */
    readonly listen: (listener: Listener) => () => void
  }
>()("rungate/layers/queues/Signals") {
  static readonly layer = Layer.effect(
    Signals,
    Effect.gen(function* () {
      const redis = yield* Redis
      const pg = yield* PgClient.PgClient
      const direct = yield* DirectClient
      const { redisPrefix, schema } = yield* Installation
      const redisChannel = `${redisPrefix}:signals`
      const postgresChannel = postgresChannelOf(schema)
      const origin = crypto.randomUUID().slice(0, 8)
      const listeners = new Set<Listener>()
      const deliver = (ids: ReadonlyArray<string>) => {
        for (const listener of listeners) listener(ids)
      }
      const receive = (message: string) => {
        const [from, ...ids] = message.split(",")
        if (from !== origin) deliver(ids)
      }

      if (redis !== null) {
        const subscriber = yield* Effect.acquireRelease(
          Effect.sync(() => redis.dedicated()),
          (connection) => Effect.sync(() => connection.disconnect())
        )
        subscriber.on("message", (_channel, message) => receive(message))
        yield* Effect.promise(() => subscriber.subscribe(redisChannel))
      } else {
        yield* Effect.gen(function* () {
          const inbox = yield* direct.listen(postgresChannel)
          while (true) receive((yield* Queue.take(inbox)).payload)
        }).pipe(
          Effect.scoped,
          Effect.tapCause((cause) => Effect.logDebug(`listening again: ${oneLine(cause)}`)),
          Effect.retry(Schedule.spaced("500 millis")),
          Effect.forkScoped
        )
      }

      const send = (message: string) =>
        redis === null
          ? pg.notify(postgresChannel, message)
          : Effect.promise(() => redis.client.publish(redisChannel, message))

      const publish = (ids: ReadonlyArray<string>) =>
        Effect.sync(() => deliver(ids)).pipe(
          Effect.andThen(
            Effect.forEach(chunks(ids), (part) => send([origin, ...part].join(",")), { discard: true }).pipe(
              Effect.catchCause((cause) => Effect.logDebug(`signal not sent: ${oneLine(cause)}`)),
              Effect.forkDetach
            )
          ),
          Effect.asVoid
        )

      return Signals.of({
        publish,
        listen: (listener) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        }
      })
    })
  )
}
