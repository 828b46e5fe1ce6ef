/** Fields behind a heading. It opens by itself when one of them is used or wrong, and does not close by itself. */
import { type ReactNode, useEffect, useState } from "react"

export const Disclosure = ({
  title,
  needed,
  children
}: {
  readonly title: string
  /** Something in it has to be seen. */
  readonly needed: boolean
  readonly children: ReactNode
}) => {
  const [isOpen, setOpen] = useState(needed)
  useEffect(() => {
    if (needed) setOpen(true)
  }, [needed])
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="w-fit rounded text-accent underline underline-offset-2">{title}</summary>
      <div className="mt-3 grid items-start gap-4 sm:grid-cols-2">{children}</div>
    </details>
  )
}
