/** What surrounds the operator's pages. It looks different from a customer's console, because its actions concern everybody. */
import { useLocation } from "@tanstack/react-router"
import { type ReactNode, useRef } from "react"
import { stillSignedIn } from "../account/useSignOut.ts"
import { ActionButton, useAction } from "../actions/Actions.tsx"
import { api } from "../data/api.ts"
import { paletteKey } from "../data/keys.ts"
import { type OperatorSession, operatorSessionChanged, useOperatorQuery } from "../data/operator.ts"
import { type Page, pagesAt } from "../data/page.ts"
import { isCurrent, Overlays, SkipLink, useCurrentInSight, useShortcuts } from "./Shortcuts.tsx"
import { Button, Link, Loaded, useTitle } from "../parts/Page.tsx"
import { Badge, CodeBlock } from "../parts/Values.tsx"
import { Dialog } from "../parts/Dialog.tsx"
import { Icon } from "../parts/Icon.tsx"
import { Environment, ThemeMenu } from "./ThemeMenu.tsx"
import { openPalette } from "./openPalette.ts"
import { SignedOut } from "./SignedOut.tsx"

const command = <CodeBlock text="rungate admin console" label="the command that prints a sign-in link" />

const NoSession = () => {
  useTitle("Operator console")
  return (
    <div className="mx-auto max-w-md space-y-4">
      <h1 className="text-title font-semibold">Operator console</h1>
      <p>
        You have no session of an operator, or it has ended. Run this on the server, and open the link that it prints:
      </p>
      {command}
    </div>
  )
}

const Entry = ({ page }: { readonly page: Page }) => {
  const isHere = isCurrent(useLocation().pathname, page.path)
  return (
    <Link
      to={page.path}
      aria-current={isHere ? "page" : undefined}
      className={`flex min-h-8 items-center gap-1.5 rounded px-1.5 py-1.5 whitespace-nowrap ${isHere ? "bg-accent-soft font-semibold text-accent" : "hover:bg-hover"}`}
    >
      <Icon of={page.icon} size={18} />
      {page.title}
    </Link>
  )
}

/** Over the page, which stays with everything that was typed into it. */
const Ended = ({ again }: { readonly again: () => Promise<unknown> }) => (
  <Dialog open onClose={() => {}} title="Your session has ended">
    <div className="space-y-4">
      <p>
        Run this on the server, open the link that it prints in another tab, and come back. The page stays as it is.
      </p>
      {command}
      <ActionButton look="primary" send={again}>
        I have signed in again
      </ActionButton>
    </div>
  </Dialog>
)

const SignOut = () => {
  const signOut = useAction(() => api.operatorSession.signOut({}), {
    fails: stillSignedIn,
    after: () => operatorSessionChanged("/operator")
  })
  return (
    <Button look="quiet" busy={signOut.isPending} onClick={() => signOut.mutate()}>
      Sign out
    </Button>
  )
}

const Inside = ({ session, children }: { readonly session: OperatorSession; readonly children: ReactNode }) => {
  useShortcuts("operator")
  const pages = useCurrentInSight(useLocation().pathname)
  return (
    <div className="flex min-h-dvh flex-col">
      <SkipLink />
      <header className="border-b border-line bg-sunken px-6 py-2 max-sm:px-4">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <div className="flex items-center gap-2">
            <span className="font-semibold">Rungate</span>
            <Badge tone="violet">operator</Badge>
            <Environment />
          </div>
          <div className="flex flex-wrap items-center gap-2">
            {session.operator !== null && <span className="text-muted">{session.operator}</span>}
            <Button look="quiet" onClick={openPalette}>
              Go to… <kbd className="text-small text-muted max-sm:hidden">{paletteKey}</kbd>
            </Button>
            <ThemeMenu />
            <SignOut />
          </div>
        </div>
        <nav ref={pages} aria-label="Operator pages" className="mt-2 flex gap-0.5 max-sm:overflow-x-auto sm:flex-wrap">
          {pagesAt("operator").map((page) => (
            <Entry key={page.path} page={page} />
          ))}
        </nav>
      </header>
      <main id="content" tabIndex={-1} className="mx-auto w-full max-w-[1200px] flex-1 p-6 outline-none max-sm:p-4">
        {children}
      </main>
      <Overlays frame="operator" />
    </div>
  )
}

const OperatorFrame = ({ children }: { readonly children: ReactNode }) => {
  const session = useOperatorQuery()
  const lastSession = useRef<OperatorSession | null>(null)
  lastSession.current = session.data ?? lastSession.current
  const again = async () => {
    const { data, error } = await session.refetch()
    if (error !== null) throw error
    if (data === null) throw new Error("This browser has no session of an operator yet. Open the printed link first.")
  }
  if (lastSession.current !== null)
    return (
      <Inside session={lastSession.current}>
        {children}
        {session.data === null && <Ended again={again} />}
      </Inside>
    )
  return (
    <SignedOut>
      <Loaded query={session}>{() => <NoSession />}</Loaded>
    </SignedOut>
  )
}

export default OperatorFrame
