/** A plain column for people without a session: what this is, sign-in, and the pages behind mailed links. */
import type { ReactNode } from "react"
import { Link, OutLink } from "../parts/Page.tsx"
import { Environment, ThemeMenu } from "./ThemeMenu.tsx"

const logo = (
  <svg width={20} height={20} viewBox="0 0 32 32" aria-hidden="true" className="shrink-0">
    <rect width="32" height="32" rx="7" fill="#4f46e5" />
    <path
      d="M10 23V9h8a4.5 4.5 0 0 1 1 8.9L23 23M10 18h7"
      fill="none"
      stroke="#fff"
      strokeWidth="2.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
)

export const SignedOut = ({ children }: { readonly children: ReactNode }) => (
  <div className="mx-auto flex min-h-dvh max-w-5xl flex-col px-4">
    <header className="flex flex-wrap items-center justify-between gap-3 py-4">
      <div className="flex items-center gap-3">
        <Link to="/" className="flex items-center gap-2 font-semibold">
          {logo}
          Rungate
        </Link>
        <Environment />
      </div>
      <nav aria-label="Service" className="flex items-center gap-4">
        <OutLink href="/docs">Docs</OutLink>
        <OutLink href="/docs/api">API reference</OutLink>
        <ThemeMenu />
      </nav>
    </header>
    <main id="content" className="flex-1 py-8">
      {children}
    </main>
  </div>
)
