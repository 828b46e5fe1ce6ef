/**
 * Replaces the settings of a running process: all that may change, or none if the new ones have a mistake.
 *
 * Settings that need a restart keep their running value and are named, again at each reload, until the process restarts with them.
 */
import { Effect, Semaphore } from "effect"
import { settingOf } from "./settingsTable.ts"

/** Settings without mistakes, and the texts that they were read from, by name. */
export interface Checked<A> {
  readonly settings: A
  readonly values: ReadonlyMap<string, string>
}

export interface Reloaded {
  /** Names of settings that have a new value now. */
  readonly changed: ReadonlyArray<string>
  /** Names of settings whose new value needs a restart. */
  readonly restart: ReadonlyArray<string>
}

type Listener = (changed: ReadonlyArray<string>) => Effect.Effect<void>

const changesBetween = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) =>
  [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name)).sort()

/** `needsRestart` says which settings of the table can't change from these settings to those. `apply` takes over the others. */
export const reloading = Effect.fnUntraced(function* <A, E>(
  check: Effect.Effect<Checked<A>, E>,
  needsRestart: (running: A, next: A, name: string) => boolean,
  apply: (running: A, next: A) => A
) {
  const first = yield* check
  let running = first
  const listeners: Array<Listener> = []

  const reload = Effect.gen(function* () {
    const next = yield* check
    const all = changesBetween(running.values, next.values)
    const restart = all.filter(
      (name) => settingOf(name)?.reloads !== true || needsRestart(running.settings, next.settings, name)
    )
    const changed = all.filter((name) => !restart.includes(name))
    const values = new Map(running.values)
    for (const name of changed) {
      const value = next.values.get(name)
      if (value === undefined) values.delete(name)
      else values.set(name, value)
    }
    running = { settings: apply(running.settings, next.settings), values }
    if (changed.length > 0) yield* Effect.forEach(listeners, (listener) => listener(changed), { discard: true })
    return { changed, restart } satisfies Reloaded
  })

  return {
    first: first.settings,
    current: () => running.settings,
    /** One at a time. Fails, and changes nothing, if a setting has a mistake. */
    reload: Effect.uninterruptible(Semaphore.makeUnsafe(1).withPermits(1)(reload)),
    /** Calls `listener` after each change, in the order of registration. */
    onReload: (listener: Listener) => {
      listeners.push(listener)
    }
  }
})
