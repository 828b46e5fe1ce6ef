/** What screen readers hear without a change of focus: that something was copied, saved, or that a run has ended. */
import { makeStore, useStore } from "../data/store.ts"

const spoken = makeStore({ text: "", count: 0 })

export const announce = (text: string): void => spoken.set({ text, count: spoken.get().count + 1 })

export const Announcer = () => {
  const { text, count } = useStore(spoken)
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {/* The key makes the same sentence a new one. */}
      <span key={count}>{text}</span>
    </div>
  )
}
