/** Single-key shortcuts. They rest while somebody types, and while a dialog or a menu is open. */
import { useEffect, useRef } from "react"

export type Keys = Readonly<Record<string, () => void>>

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
/** Enter on a button or link is its own. */
const isControl = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest("a, button, summary, [role=menuitem], [role=tab]") !== null

/** The key of the palette as this machine's keyboard has it. */
export const paletteKey = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘ K" : "Ctrl K"

const sequenceMillis = 1_000

/** Keys by name: `j`, `Enter`, `?`, or two after each other, `g a`. */
export const useKeys = (keys: Keys): void => {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    let first = ""
    let until = 0
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector("dialog[open], [role=menu]") !== null) return
      if (event.key === "Enter" && isControl(event.target)) return
      const name = event.timeStamp < until ? `${first} ${event.key}` : event.key
      const action = current.current[name] ?? current.current[event.key]
      first = event.key
      until = event.timeStamp + sequenceMillis
      if (action === undefined) return
      if (name.includes(" ")) until = 0
      event.preventDefault()
      action()
    }
    document.addEventListener("keydown", pressed)
    return () => document.removeEventListener("keydown", pressed)
  }, [])
}
