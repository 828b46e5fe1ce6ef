/** What screen readers hear without a change of focus: that something was copied, saved, or that a run has ended. */
import { makeStore, useStore } from "../data/store.ts"

const announcement = makeStore({ text: "", count: 0 })

export const announce = (text: string): void => announcement.set({ text, count: announcement.get().count + 1 })

export const Announcer = () => {
  const { text, count } = useStore(announcement)
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {/* The key makes the same sentence a new one. */}
      <span key={count}>{text}</span>
    </div>
  )
}
