/** A plain column for people without a session: what this is, sign-in, and the pages behind mailed links. */
import type { ReactNode } from "react"
import { Link, OutLink } from "../parts/Page.tsx"
import { Environment, ThemeMenu } from "./ThemeMenu.tsx"

/** The icon of the browser's tab. */
const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href

export const SignedOut = ({ children }: { readonly children: ReactNode }) => (
  <div className="mx-auto flex min-h-dvh max-w-5xl flex-col px-4">
    <header className="flex flex-wrap items-center justify-between gap-3 py-4">
      <div className="flex items-center gap-3">
        <Link to="/" className="flex items-center gap-2 font-semibold">
          <img src={icon} width={20} height={20} alt="" decoding="sync" />
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
