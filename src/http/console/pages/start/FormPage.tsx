/** A page with one form in a narrow column. */
import type { ReactNode } from "react"
import { useTitle } from "../../parts/Page.tsx"

interface FormPageProps {
  readonly title?: string | undefined
  readonly lead?: ReactNode
  readonly children?: ReactNode
}

export const FormPage = ({ title: own, lead, children }: FormPageProps) => {
  const title = useTitle(own)
  return (
    <div className="mx-auto max-w-sm">
      <h1 className="text-title font-semibold">{title}</h1>
      {lead !== undefined && <div className="mt-2 text-muted">{lead}</div>}
      <div className="mt-6">{children}</div>
    </div>
  )
}
