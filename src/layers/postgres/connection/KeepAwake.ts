/**
 * Wakes a connection pool in which everybody waits and nobody is left to wake them.
 *
 * The driver's pool (Effect 4.1) may keep a failed connection as if it were one of its connections. When another one ends just then, as in
 * an outage of some moments, the statements that wait are not woken, and all that come later wait behind them, for ever. The pool opens
 * another connection, and wakes everybody, as soon as more statements wait than its connections carry.
 */
import { Context, Duration, Effect } from "effect"

/** Seconds between two looks. Tests shorten them, or make looks rare to see a wake-up lost. */
export const DueSeconds = Context.Reference("rungate/layers/postgres/DueSeconds", { defaultValue: () => 1 })
/** A statement that only waits for a connection takes milliseconds, also under load. */
const answerMax = Duration.seconds(2)
/** They are answered at once when the pool is awake. */
const wakeMax = Duration.seconds(10)
/** How many statements share a connection, which is the driver's default. */
const statementsPerConnection = 32

/**
 * Looks every second whether the pool gives out connections. If not, it makes so many statements wait that the pool must open another one.
 * Runs until it is interrupted. `ask` and `look` are statements that use the pool, and `connections` is the most that the pool opens.
 */
export const keepAwake = <A, E, R>(
  ask: Effect.Effect<A, E, R>,
  connections: number,
  look: Effect.Effect<unknown, unknown, R> = ask
): Effect.Effect<never, never, R> => {
  const wake = Effect.replicateEffect(
    Effect.timeoutOption(Effect.exit(ask), wakeMax),
    connections * statementsPerConnection + 1,
    {
      concurrency: "unbounded",
      discard: true
    }
  )
  // A failure is an answer too: the pool tried to connect.
  const answer = Effect.timeoutOrElse(Effect.exit(look), { duration: answerMax, orElse: () => wake })
  return Effect.flatMap(DueSeconds, (seconds) =>
    Effect.forever(Effect.andThen(Effect.sleep(Duration.seconds(seconds)), answer))
  )
}
