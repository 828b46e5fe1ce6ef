/**
 * Points at which a test can kill or freeze this process, between two steps that must survive an interruption.
 *
 * Without RUNGATE_CRASH_AT a crash point costs one comparison. The state is a module variable and not an Effect service, so that no
 * production code needs a service that only tests use.
 */
import { Effect, Layer } from "effect"
import { Settings } from "./Settings.ts"
import type { CrashAt } from "./settings/readSettings.ts"

let armed: CrashAt | null = null
let hits = 0

const hitPoint = (at: CrashAt): Effect.Effect<void> =>
  Effect.suspend(() => {
    hits += 1
    if (hits !== at.hit) return Effect.void
    process.kill(process.pid, at.signal)
    // SIGKILL may arrive a moment later, and no code may run until then. A process frozen by SIGSTOP continues here after SIGCONT.
    return at.signal === "SIGKILL" ? Effect.never : Effect.void
  })

export const crashPoint = (name: string): Effect.Effect<void> =>
  Effect.suspend(() => (armed === null || armed.point !== name ? Effect.void : hitPoint(armed)))

/** Arms the crash point that RUNGATE_CRASH_AT names. */
export const CrashPoints = Layer.effectDiscard(
  Effect.map(Settings, ({ crashAt }) => {
    armed = crashAt
  })
)
