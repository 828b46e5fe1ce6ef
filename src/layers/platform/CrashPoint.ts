/**
 * Points at which a test can kill or freeze this process, between two steps that must survive an interruption.
 *
 * Without RUNGATE_CRASH_AT a point costs one comparison. It is module state and not a service, because code must not depend on tests, and a
 * process dies as a whole.
 */
import { Effect, Layer } from "effect"
import { type CrashAt, Settings } from "./Settings.ts"

let armed: CrashAt | null = null
let hits = 0

const strike = (at: CrashAt): Effect.Effect<void> =>
  Effect.suspend(() => {
    hits += 1
    if (hits !== at.hit) return Effect.void
    process.kill(process.pid, at.signal)
    // The signal is not always there at once, and nothing may happen after it. A frozen process goes on when it is woken.
    return at.signal === "SIGKILL" ? Effect.never : Effect.void
  })

export const crashPoint = (name: string): Effect.Effect<void> =>
  Effect.suspend(() => (armed === null || armed.point !== name ? Effect.void : strike(armed)))

/** Arms the point that the settings name. */
export const CrashPoints = Layer.effectDiscard(
  Effect.map(Settings, ({ crashAt }) => {
    armed = crashAt
  })
)
