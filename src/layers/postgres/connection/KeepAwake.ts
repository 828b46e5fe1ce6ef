/**
 * Wakes a connection pool in which everybody waits and nobody is left to wake them.
 *
 * The driver's pool (Effect 4.1) may keep a failed connection as if it were one of its connections. When another one ends just then, as in
 * an outage of some moments, the statements that wait are not woken, and all that come later wait behind them, for ever. The pool opens
 * another connection, and wakes everybody, as soon as more statements wait than its connections carry.
 */
import { Duration, Effect } from "effect"

const askEvery = Duration.seconds(1)
/** A statement that only waits for a connection takes milliseconds, also under load. */
const answerMax = Duration.seconds(2)
/** They are answered at once when the pool is awake. */
const wakeMax = Duration.seconds(10)
/** How many statements share a connection, which is the driver's default. */
const statementsPerConnection = 32

/**
 * Asks every second whether the pool gives out connections. If not, it makes so many statements wait that the pool must open another one.
 * Runs until it is interrupted. `ask` is a statement that uses the pool, and `connections` the most that the pool opens.
 */
export const keepAwake = <A, E, R>(
  ask: Effect.Effect<A, E, R>,
  connections: number
): Effect.Effect<never, never, R> => {
  // A failure is an answer too: the pool tried to connect.
  const settles = Effect.exit(ask)
  const wake = Effect.replicateEffect(
    Effect.timeoutOption(settles, wakeMax),
    connections * statementsPerConnection + 1,
    {
      concurrency: "unbounded",
      discard: true
    }
  )
  return Effect.sleep(askEvery).pipe(
    Effect.andThen(Effect.timeoutOrElse(settles, { duration: answerMax, orElse: () => wake })),
    Effect.forever
  )
}
