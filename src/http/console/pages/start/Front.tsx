/** The address `/`: Home for a session, and for everybody else what this service is. */
import { lazyRouteComponent } from "@tanstack/react-router"
import { Suspense } from "react"
import { hasSignedInBefore, useSession } from "../../data/session.ts"
import { Skeleton } from "../../parts/Page.tsx"
import { Start } from "./Start.tsx"

const Home = lazyRouteComponent(() => import("../home/Home.tsx"))

/** Home's code comes while the service is asked for the session, and the page waits for both. Others don't get it. */
export const homeLoaded: Promise<void> | undefined = hasSignedInBefore() ? Home.preload?.() : undefined

const Front = () =>
  useSession() === null ? (
    <Start />
  ) : (
    <Suspense fallback={<Skeleton lines={6} />}>
      <Home />
    </Suspense>
  )

export default Front
