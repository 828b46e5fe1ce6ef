/** What surrounds every page of a session: rail, balance, palette, shortcuts, and the live connection. */
import { useLocation } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { Unverified } from "../account/Unverified.tsx"
import { useLiveConnection } from "../data/live.ts"
import { useSession } from "../data/session.ts"
import { BottomBar, Rail, TopBar } from "./Rail.tsx"
import { SettingsNav } from "./SettingsNav.tsx"
import { Overlays, SkipLink, useShortcuts } from "./Shortcuts.tsx"

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
