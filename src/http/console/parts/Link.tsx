/** A link inside the console (no page load), or to another page of the service. */
import { Link as RouterLink } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { parseSearch } from "../data/address.ts"

interface LinkProps {
  /** Path and query, such as `/activity?status=failed`. */
  readonly to: string
  readonly children: ReactNode
  readonly className?: string
  readonly title?: string
  readonly "aria-current"?: "page" | undefined
  readonly tabIndex?: number
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
