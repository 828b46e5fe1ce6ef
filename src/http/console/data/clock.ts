/** The present time for components, the same for all of them, a step every ten seconds while the page is visible. */
import { makeStore, useStore } from "./store.ts"

const stepMillis = 10_000

const now = makeStore(new Date().getTime())
const step = () => {
  if (document.visibilityState === "visible") now.set(new Date().getTime())
}
if (typeof document !== "undefined") {
  setInterval(step, stepMillis)
  document.addEventListener("visibilitychange", step)
}

/** Milliseconds since 1970. */
export const useNow = (): number => useStore(now)
export const present = (): number => new Date().getTime()
