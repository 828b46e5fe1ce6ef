/** A value outside of React that components follow: for what the whole page shares and no address holds. */
import { useSyncExternalStore } from "react"

export interface Store<A> {
  readonly get: () => A
  readonly set: (value: A) => void
  readonly subscribe: (listener: () => void) => () => void
}

export const makeStore = <A>(initial: A): Store<A> => {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  }
}

export const useStore = <A>(store: Store<A>): A => useSyncExternalStore(store.subscribe, store.get, store.get)

/** What the storage of this browser answers. It may be off. */
export const stored = <A>(use: () => A, otherwise: A): A => {
  try {
    return use()
  } catch {
    return otherwise
  }
}
