/**
 * What a page is made of: its head, panels, links and buttons, and what is shown in place of data that loads, is missing, failed, or may
 * not be seen. A page has one primary action; a button's words say what happens.
 */
import { type ButtonHTMLAttributes, type ReactNode, useEffect, useId } from "react"
import { ApiError, type OperationId } from "../data/api.ts"
import { Id } from "./Values.tsx"
import { Link as RouterLink, useMatch } from "@tanstack/react-router"
import { parseSearch } from "../data/address.ts"
import { allPages } from "../data/page.ts"
import { useDenied, useMay } from "../data/session.ts"

interface LinkProps {
  /** Path and query, such as `/activity?status=failed`. */
  readonly to: string
  readonly children: ReactNode
  readonly className?: string
  readonly title?: string
  readonly "aria-current"?: "page" | undefined
  /** The page stays scrolled as it is. Otherwise the top of the new one is shown. */
  readonly stay?: boolean
}

export const Link = ({ to, stay = false, ...rest }: LinkProps) => {
  const [path = "/", query = ""] = to.split("?")
  const props = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  // Without this the router marks the links to all pages above the current one as the current page too.
  return (
    <RouterLink to={path} search={parseSearch(query)} activeOptions={{ exact: true }} resetScroll={!stay} {...props} />
  )
}

export const linkLook = "text-accent underline underline-offset-2 decoration-1 hover:decoration-2"

/** The name of a row, which leads to its page. */
export const RowLink = ({ className = "", ...props }: LinkProps) => (
  <Link {...props} className={`font-medium hover:underline ${className}`} />
)

/** A link in a text. */
export const TextLink = (props: LinkProps) => <Link {...props} className={`${linkLook} ${props.className ?? ""}`} />

/** A page of the service outside of the console, such as the API reference. */
export const OutLink = ({ href, children }: { readonly href: string; readonly children: string }) => (
  <a href={href} className={linkLook}>
    {children}
  </a>
)

export type Look = "primary" | "plain" | "danger" | "quiet"

const looks: Readonly<Record<Look, string>> = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover border-transparent",
  plain: "bg-panel text-text hover:bg-hover border-line",
  danger: "bg-panel text-red hover:bg-red-soft border-red",
  quiet: "bg-transparent text-text hover:bg-hover border-transparent"
}
const base =
  "inline-flex items-center justify-center gap-1.5 rounded border px-3 py-1.5 font-medium whitespace-nowrap min-h-8 transition-colors duration-100 disabled:opacity-60 disabled:cursor-not-allowed"

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: Look
  /** Shows that the action is under way, and takes no second click. */
  readonly busy?: boolean
}

export const Button = ({ look = "plain", busy = false, className = "", children, disabled, ...rest }: ButtonProps) => (
  <button
    type="button"
    {...rest}
    disabled={disabled === true || busy}
    aria-busy={busy}
    className={`${base} ${looks[look]} ${className}`}
  >
    {children}
    {busy && <span className="after-150">…</span>}
  </button>
)

interface ButtonLinkProps {
  readonly to: string
  readonly look?: Look | undefined
  readonly children: ReactNode
}

export const ButtonLink = ({ to, look = "plain", children }: ButtonLinkProps) => (
  <Link to={to} className={`${base} ${looks[look]} no-underline`}>
    {children}
  </Link>
)

/** Leads to the form that makes one, for those who may. */
export const NewLink = ({ operation, ...link }: ButtonLinkProps & { readonly operation: OperationId }) =>
  useMay(operation) && <ButtonLink {...link} />

/** The title, also of the browser's tab: the one in the list of pages, unless the page has its own. */
export const useTitle = (own?: string): string => {
  const { fullPath } = useMatch({ strict: false })
  const title = own ?? allPages().find(({ path }) => path === fullPath)?.title ?? ""
  useEffect(() => {
    document.title = `${title} · Rungate`
  }, [title])
  return title
}

interface PageHeadProps {
  /** Of an object, such as its name. */
  readonly title?: string
  readonly actions?: ReactNode
  readonly children?: ReactNode
}

export const PageHead = ({ title: own, actions, children }: PageHeadProps) => {
  const title = useTitle(own)
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

interface PageProps {
  readonly title?: string
  readonly actions?: ReactNode
  /** Below the title. */
  readonly lead?: ReactNode
  readonly children: ReactNode
}

/** A page whose parts stand below each other. */
export const Page = ({ lead, children, ...head }: PageProps) => (
  <>
    <PageHead {...head}>{lead}</PageHead>
    <div className="grid grid-cols-1 gap-6">{children}</div>
  </>
)

interface PanelProps {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly className?: string
}

export const Panel = ({ title, actions, children, className = "" }: PanelProps) => {
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

/** What the list will show, and how to make the first. Words alone are muted. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="flex flex-col items-start gap-3 rounded border border-dashed border-line p-6">
    <p className="font-medium">{title}</p>
    {typeof children === "string" ? <p className="text-muted">{children}</p> : children}
  </div>
)

/** What stands in place of a list without rows. */
export interface Nothing {
  /** What the list will show. */
  readonly empty: ReactNode
  /** How to make the first. */
  readonly hint?: ReactNode
  /** While filters leave rows out: that none matches, and the way to the whole list. */
  readonly filtered?: readonly [title: string, to: string, words: string] | false
}

export const None = ({ empty, hint, filtered = false }: Nothing) => {
  if (filtered === false) return typeof empty === "string" ? <Empty title={empty}>{hint}</Empty> : empty
  const [title, to, words] = filtered
  return (
    <Empty title={title}>
      <TextLink to={to}>{words}</TextLink>
    </Empty>
  )
}

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

interface LoadedProps<A> {
  readonly query: { readonly data: A | undefined; readonly error: Error | null; readonly refetch: () => unknown }
  readonly skeleton?: ReactNode
  readonly children: (data: A) => ReactNode
}

/** The data of a query, or the state in its place. Data that is there stays while it is read again. */
export const Loaded = <A,>({ query, skeleton, children }: LoadedProps<A>) => {
  if (query.data !== undefined) return children(query.data)
  if (query.error !== null) return <Failed error={query.error} retry={() => void query.refetch()} />
  return skeleton ?? <Skeleton />
}

/** A panel that has only the data of a query. */
export const LoadedPanel = <A,>({
  query,
  skeleton,
  children,
  ...panel
}: Omit<PanelProps, "children"> & LoadedProps<A>) => (
  <Panel {...panel}>
    <Loaded query={query} skeleton={skeleton}>
      {children}
    </Loaded>
  </Panel>
)

/** The page of one object, whose own head has its name. Until it is there the page has the title of the list of pages. */
export const LoadedPage = <A,>(loaded: LoadedProps<A>) => (
  <>
    {loaded.query.data === undefined && <PageHead />}
    <Loaded skeleton={<Skeleton lines={8} height={24} />} {...loaded} />
  </>
)

interface OfOperation {
  readonly operation: OperationId
}

/** Says who may what only some roles may, in the words of the contract. Nothing to those. */
export const Denied = ({ operation }: OfOperation) => {
  const denied = useDenied(operation)
  return denied === null ? null : <p className="text-muted">{denied}</p>
}

/** For those who may. Others read who does. */
export const Allowed = ({ operation, children }: OfOperation & { readonly children: ReactNode }) =>
  useDenied(operation) === null ? children : <Denied operation={operation} />

/** For those who may, and nothing for others. */
export const May = ({ operation, children }: OfOperation & { readonly children: ReactNode }) =>
  useMay(operation) && children

/** What stands wherever the console counts providers: how far their adapters were tried. */
export const Untried = () => (
  <>
    No adapter has been tried against a paid account yet.{" "}
    <OutLink href="/docs/providers">How each was verified</OutLink>
  </>
)
