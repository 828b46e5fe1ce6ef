/**
 * What this process is doing, by name: jobs, passes of its loops, and steps of its end. A process that does not stop in time logs it, so
 * that an operator's report says where it hung.
 *
 * The state is a module variable and not an Effect service: a process that hangs can't ask for a service.
 */
import { Clock, Effect, Layer } from "effect"

interface Activity {
  readonly name: string
  readonly since: number
}

const activities = new Set<Activity>()

/** Lists `work` under `name` while it runs. */
export const underway =
  (name: string) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.currentTimeMillis, (since) => {
      const activity = { name, since }
      activities.add(activity)
      return Effect.ensuring(
        work,
        Effect.sync(() => activities.delete(activity))
      )
    })

/** Lists the closing of everything in `layer` under `name`. What `layer` itself depends on is closed later. */
export const closingListed =
  (name: string) =>
  <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> => {
    const activity = { name: `closing ${name}`, since: 0 }
    const ended = Effect.sync(() => activities.delete(activity))
    const begun = Effect.map(Clock.currentTimeMillis, (since) => activities.add(Object.assign(activity, { since })))
    // Finalizers run in the reverse order.
    return Layer.effectDiscard(Effect.addFinalizer(() => begun)).pipe(
      Layer.provideMerge(layer),
      Layer.provideMerge(Layer.effectDiscard(Effect.addFinalizer(() => ended)))
    )
  }

/** The oldest first, with the seconds since each began. */
export const underwayNow = (now: number): ReadonlyArray<string> =>
  [...activities]
    .sort((a, b) => a.since - b.since)
    .map(({ name, since }) => `${name} (${((now - since) / 1_000).toFixed(1)} s)`)
