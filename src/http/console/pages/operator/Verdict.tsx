/** A fact that is good or bad, with an icon and words, so that its colour says nothing alone. */
import { CircleCheck, TriangleAlert } from "lucide-react"
import type { ReactNode } from "react"

export const Verdict = ({ good, children }: { readonly good: boolean; readonly children: ReactNode }) => {
  const Shape = good ? CircleCheck : TriangleAlert
  return (
    <p className={`flex items-start gap-2 ${good ? "text-green" : "text-red"}`}>
      <Shape size={16} aria-hidden="true" className="mt-0.5 shrink-0" />
      <span>{children}</span>
    </p>
  )
}
