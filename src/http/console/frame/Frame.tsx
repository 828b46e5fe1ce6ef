/** What surrounds every page of a session: rail, balance, palette, shortcuts, and the live connection. */
import { useLocation } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useLiveConnection } from "../data/live.ts"
import { useSession } from "../data/session.ts"
import { BottomBar, Rail, TopBar } from "./Rail.tsx"
import { isCurrent, Overlays, SkipLink, useCurrentInSight, useShortcuts } from "./Shortcuts.tsx"
import { useAction } from "../actions/Actions.tsx"
import { api } from "../data/api.ts"
import { Button, Link } from "../parts/Page.tsx"
import { pagesAt } from "../data/page.ts"
const SettingsNav = () => {
  const { pathname } = useLocation()
  const list = useCurrentInSight(pathname)
  return (
    <nav
      ref={list}
      aria-label="Settings"
      className="mb-6 flex gap-x-1 border-b border-line max-sm:overflow-x-auto sm:flex-wrap"
    >
      {pagesAt("settings").map(({ path, title }) => (
        <Link
          key={path}
          to={path}
          aria-current={isCurrent(pathname, path) ? "page" : undefined}
          className={`border-b-2 px-3 py-2 whitespace-nowrap ${isCurrent(pathname, path) ? "border-accent font-semibold" : "border-transparent text-muted hover:text-text"}`}
        >
          {title}
        </Link>
      ))}
    </nav>
  )
}
const Unverified = ({ email }: { readonly email: string }) => {
  const resend = useAction(() => api.recovery.resendVerification({}))
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 border-b border-line bg-amber-soft px-6 py-2 text-amber max-sm:px-4">
      <p>
        {resend.error !== null
          ? resend.error.message
          : resend.isSuccess
            ? `A new link is on its way to ${email}.`
            : `Open the link that was mailed to ${email}. Until then you can look around, but not create keys, run or pay.`}
      </p>
      <Button busy={resend.isPending} onClick={() => resend.mutate()}>
        Send the link again
      </Button>
    </div>
  )
}

export const Frame = ({ children }: { readonly children: ReactNode }) => {
  useLiveConnection()
  useShortcuts("session")
  const { pathname } = useLocation()
  const session = useSession()
  return (
    <div className="flex min-h-dvh">
      <SkipLink />
      <Rail />
      <div className="flex min-w-0 flex-1 flex-col max-sm:pb-16">
        <TopBar />
        {session?.verification === "pending" && <Unverified email={session.user.email} />}
        <main id="content" tabIndex={-1} className="mx-auto w-full max-w-[1200px] flex-1 p-6 outline-none max-sm:p-4">
          {pathname.startsWith("/settings") && <SettingsNav />}
          {children}
        </main>
      </div>
      <BottomBar />
      <Overlays frame="session" />
    </div>
  )
}
