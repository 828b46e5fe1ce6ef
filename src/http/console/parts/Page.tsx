/** The head of a page, panels, and what they show in place of their data: that it loads, has nothing, failed, or may not be seen. */
import { type ReactNode, useEffect, useId } from "react"
import { ApiError } from "../../client/Browser.ts"
import { Button } from "./Button.tsx"
import { Id } from "./Copy.tsx"

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

/** Bars of the shape that comes. Invisible for the first 150 ms. */
export const Skeleton = ({ lines = 3, height = 16 }: { readonly lines?: number; readonly height?: number }) => (
  <div role="status" aria-label="Loading" className="space-y-3 py-2">
    {Array.from({ length: lines }, (_, index) => (
      <div key={index} className="skeleton" style={{ height, width: `${100 - ((index * 17) % 40)}%` }} />
    ))}
  </div>
)

/** What the list will show, and how to make the first. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="flex flex-col items-start gap-3 rounded border border-dashed border-line p-6">
    <p className="font-medium">{title}</p>
    {children}
  </div>
)

const headline = (error: unknown) => {
  if (!(error instanceof ApiError)) return "Something went wrong in this page."
  if (error.code === "forbidden") return "You may not see this."
  return error.message
}

/** What happened, the request's id for whoever reports it, and another try. */
export const Failed = ({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) => {
  const isForbidden = error instanceof ApiError && error.code === "forbidden"
  const detail = error instanceof ApiError ? (isForbidden ? error.message : null) : String(error)
  return (
    <div role="alert" className={`rounded border p-4 ${isForbidden ? "border-line" : "border-red"}`}>
      <p className={`font-medium ${isForbidden ? "" : "text-red"}`}>{headline(error)}</p>
      {detail !== null && <p className="mt-1 text-muted">{detail}</p>}
      {error instanceof ApiError && error.request_id !== null && (
        <p className="mt-2 text-small text-muted">
          Request <Id id={error.request_id} what="the request id" />
        </p>
      )}
      {retry !== undefined && !isForbidden && (
        <Button className="mt-3" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

interface Query<A> {
  readonly data: A | undefined
  readonly error: Error | null
  readonly refetch: () => unknown
}

/** The data of a query, or the state in its place. Data that is there stays while it is read again. */
export const Loaded = <A,>({
  query,
  skeleton,
  children
}: {
  readonly query: Query<A>
  readonly skeleton?: ReactNode
  readonly children: (data: A) => ReactNode
}) => {
  if (query.data !== undefined) return children(query.data)
  if (query.error !== null) return <Failed error={query.error} retry={() => void query.refetch()} />
  return skeleton ?? <Skeleton />
}

/** The page of one object, whose own head has its name. Until it is there the page has this title. */
export const LoadedPage = <A,>({
  title,
  query,
  children
}: {
  readonly title: string
  readonly query: Query<A>
  readonly children: (data: A) => ReactNode
}) => (
  <>
    {query.data === undefined && <PageHead title={title} />}
    <Loaded query={query} skeleton={<Skeleton lines={8} height={24} />}>
      {children}
    </Loaded>
  </>
)
