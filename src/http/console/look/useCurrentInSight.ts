/** Scrolls the entry of the current page into sight, in a list of pages that scrolls sideways on narrow screens. */
import { type RefObject, useEffect, useRef } from "react"

export const useCurrentInSight = (pathname: string): RefObject<HTMLElement | null> => {
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    const show = () =>
      list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" })
    show()
    window.addEventListener("resize", show)
    return () => window.removeEventListener("resize", show)
  }, [pathname])
  return list
}
