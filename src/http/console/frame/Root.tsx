/** Decides what stands around a page: the frame for a session, a plain column for people who are signed out. */
import { lazyRouteComponent, Navigate, Outlet, useMatches } from "@tanstack/react-router"
import { Suspense } from "react"
import { sessionEnded } from "../data/api.ts"
import { allPages, type Page } from "../data/page.ts"
import { sessionChanged, sessionRenewed, useSession, useSessionQuery } from "../data/session.ts"
import { useStore } from "../data/store.ts"
import { Announcer } from "../parts/Values.tsx"
import { Button, Failed, Skeleton } from "../parts/Page.tsx"
import { Frame } from "./Frame.tsx"
import { SignedOut } from "./SignedOut.tsx"
import { Dialog } from "../parts/Dialog.tsx"
import { SignInForm } from "../account/SignInForm.tsx"

/** Asks to sign in again over the page, which stays with everything that was typed into it. */
const Expired = () => {
  const session = useSession()
  return (
    <Dialog open onClose={() => {}} title="Your session has ended">
      <p className="mb-4 text-muted">Sign in again. The page stays as it is.</p>
      <SignInForm
        email={session?.user.email ?? ""}
        organization_id={session?.organization.id ?? null}
        onDone={() => void sessionRenewed()}
      />
      <Button look="quiet" className="mt-3" onClick={() => sessionChanged("/")}>
        Leave this page
      </Button>
    </Dialog>
  )
}

/** Customers never load it. */
export const OperatorFrame = lazyRouteComponent(() => import("./OperatorFrame.tsx"))

const usePage = () => {
  const path = useMatches().at(-1)?.fullPath
  return allPages().find((one) => one.path === path)
}

const SignedOutPage = () => (
  <SignedOut>
    <Outlet />
  </SignedOut>
)

const Around = () => {
  const page = usePage()
  if (page?.access === "public") return <SignedOutPage />
  if (page?.access !== "operator") return <OfSession page={page} />
  return (
    <Suspense fallback={<Skeleton />}>
      <OperatorFrame>
        <Outlet />
      </OperatorFrame>
    </Suspense>
  )
}

const OfSession = ({ page }: { readonly page: Page | undefined }) => {
  const session = useSessionQuery()
  if (session.data === undefined)
    return (
      <SignedOut>
        {session.error === null ? <Skeleton /> : <Failed error={session.error} retry={() => void session.refetch()} />}
      </SignedOut>
    )
  if (session.data !== null)
    return (
      <Frame>
        <Outlet />
      </Frame>
    )
  if (page === undefined || page.access === "both") return <SignedOutPage />
  return <Navigate to="/sign-in" search={{ next: `${location.pathname}${location.search}` }} replace />
}

export const Root = () => {
  const hasEnded = useStore(sessionEnded)
  return (
    <>
      <Around />
      {hasEnded && <Expired />}
      <Announcer />
    </>
  )
}
