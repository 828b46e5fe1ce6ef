/** Buttons, and links that look like them. A page has one primary action; a button's words say what happens. */
import type { ButtonHTMLAttributes, ReactNode } from "react"
import { Link } from "./Link.tsx"

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

export const ButtonLink = ({
  to,
  look = "plain",
  className = "",
  children
}: {
  readonly to: string
  readonly look?: Look
  readonly className?: string
  readonly children: ReactNode
}) => (
  <Link to={to} className={`${base} ${looks[look]} no-underline ${className}`}>
    {children}
  </Link>
)
