/**
 * A sandbox whose slowest calls last until the test releases them, so that a run is under way for as long as the test needs it.
 *
 * A test that counts on a call of two seconds fails on a machine that needs three for its other steps, and takes two seconds on each.
 */
import { Duration, Effect, Layer } from "effect"
import { SimulatedDelay } from "../../src/layers/executor/Sandbox.ts"
import { rehearse, until } from "./app.ts"

/** The longest scenario of the sandbox. Calls of other scenarios take the time that they name. */
export const heldWord = "slow_120"
const heldMillis = 120_000

export interface HeldProvider {
  /** `startApp({ held })` takes it. */
  readonly layer: Layer.Layer<never>
  /** How many calls are held now. */
  readonly calls: () => number
  /** Ends when so many calls are held. */
  readonly holds: (calls: number) => Promise<void>
  /** All calls that are held now are answered. */
  readonly release: () => void
}

export const heldProvider = (): HeldProvider => {
  const held = new Set<() => void>()
  const hold = Effect.callback<void>((resume) => {
    const release = () => {
      held.delete(release)
      resume(Effect.void)
    }
    held.add(release)
    return Effect.sync(() => void held.delete(release))
  })
  return {
    layer: Layer.succeed(SimulatedDelay, (millis) =>
      millis === heldMillis ? hold : Effect.sleep(Duration.millis(millis))
    ),
    calls: () => held.size,
    holds: async (calls) => {
      await until(
        `the provider holds ${calls} calls`,
        () => held.size,
        (size) => size === calls
      )
    },
    release: () => {
      for (const release of held) release()
    }
  }
}

/** A run that is held. Another `who` is another input. */
export const rehearseHeld = (who = "") => rehearse(who === "" ? heldWord : `${who}+${heldWord}`)
