/** The head of a page, and panels: the same grid everywhere. */
import { type ReactNode, useEffect, useId } from "react"

export const useTitle = (title: string): void =>
  useEffect(() => {
    document.title = `${title} · Rungate`
  }, [title])

export const PageHead = ({
  title,
  actions,
  children
}: {
  readonly title: string
  readonly actions?: ReactNode
  readonly children?: ReactNode
}) => {
  useTitle(title)
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0">
        <h1 className="text-title font-semibold break-words">{title}</h1>
        {children !== undefined && <div className="mt-1 text-muted">{children}</div>}
      </div>
      {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
    </header>
  )
}

export const Panel = ({
  title,
  actions,
  children,
  className = ""
}: {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly className?: string
}) => {
  const id = useId()
  return (
    <section aria-labelledby={id} className={`rounded border border-line bg-panel p-4 ${className}`}>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-x-3 gap-y-2">
        <h2 id={id} className="min-w-0 font-semibold break-words">
          {title}
        </h2>
        {actions}
      </div>
      {children}
    </section>
  )
}
