/** What surrounds every page of a session: rail, balance, palette, shortcuts, and the live connection. */
import { useLocation } from "@tanstack/react-router"
import { lazy, type ReactNode, Suspense, useEffect } from "react"
import { useLiveConnection } from "../data/live.ts"
import { useSession } from "../data/session.ts"
import { useStore } from "../data/store.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { closeOverlay, openPalette, overlay } from "./openPalette.ts"
import { BottomBar, Rail, TopBar } from "./Rail.tsx"
import { SettingsNav } from "./SettingsNav.tsx"
import { Shortcuts, useShortcuts } from "./Shortcuts.tsx"
import { Unverified } from "../account/Unverified.tsx"

const Palette = lazy(() => import("./Palette.tsx"))

/** Ctrl K also works while somebody types. */
const usePaletteKey = () =>
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      openPalette()
    }
    document.addEventListener("keydown", pressed)
    return () => document.removeEventListener("keydown", pressed)
  }, [])

const focusSearch = () => {
  const search = document.querySelector<HTMLInputElement>("[data-search]")
  if (search === null) openPalette()
  else search.focus()
}

const useFrameKeys = () => {
  useShortcuts("session", focusSearch)
  usePaletteKey()
}

const Overlays = () => {
  const shown = useStore(overlay)
  return (
    <>
      <Dialog open={shown === "palette"} onClose={closeOverlay} title="Go to" hideTitle wide>
        <Suspense fallback={null}>
          <Palette />
        </Suspense>
      </Dialog>
      <Shortcuts frame="session" />
    </>
  )
}

export const Frame = ({ children, wide }: { readonly children: ReactNode; readonly wide: boolean }) => {
  useLiveConnection()
  useFrameKeys()
  const { pathname } = useLocation()
  const session = useSession()
  return (
    <div className="flex min-h-dvh">
      <a
        href="#content"
        className="absolute top-2 left-2 z-50 -translate-y-20 rounded bg-accent px-3 py-1.5 text-on-accent focus:translate-y-0"
      >
        Skip to the page
      </a>
      <Rail />
      <div className="flex min-w-0 flex-1 flex-col max-sm:pb-16">
        <TopBar />
        {session?.verification === "pending" && <Unverified email={session.user.email} />}
        <main
          id="content"
          tabIndex={-1}
          className={`w-full flex-1 p-6 outline-none max-sm:p-4 ${wide ? "" : "mx-auto max-w-[1200px]"}`}
        >
          {pathname.startsWith("/settings") && <SettingsNav />}
          {children}
        </main>
      </div>
      <BottomBar />
      <Overlays />
    </div>
  )
}
