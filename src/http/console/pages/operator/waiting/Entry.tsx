/** An entry of a list that waits for the operator: what it is, the button that deals with it, what went wrong, and facts about it. */
import type { ReactNode } from "react"

export const Entry = ({
  title,
  action,
  why,
  children
}: {
  readonly title: ReactNode
  readonly action: ReactNode
  /** As the service or the provider wrote it. Null if nothing is stored. */
  readonly why: string | null
  /** Facts, each an element of its own. */
  readonly children: ReactNode
}) => (
  <li className="grid gap-2 border-b border-line py-3 last:border-b-0">
    <div className="flex flex-wrap items-center justify-between gap-2">
      <span>{title}</span>
      {action}
    </div>
    {why !== null && (
      <pre className="overflow-x-auto rounded bg-sunken p-2 font-mono text-small whitespace-pre-wrap break-words">
        {why}
      </pre>
    )}
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-small text-muted">{children}</p>
  </li>
)
