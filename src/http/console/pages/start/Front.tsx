/** The address `/`: Home for a session, and for everybody else what this service is. */
import { lazy, Suspense } from "react"
import { hasSignedInBefore, useSession } from "../../data/session.ts"
import { Skeleton } from "../../parts/States.tsx"
import { Start } from "./Start.tsx"

const home = () => import("../home/Home.tsx")
const Home = lazy(home)

// Home's code comes while the service is asked for the session, and not after its answer. Others don't get it.
if (hasSignedInBefore()) home().catch(() => {})

const Front = () =>
  useSession() === null ? (
    <Start />
  ) : (
    <Suspense fallback={<Skeleton lines={6} />}>
      <Home />
    </Suspense>
  )

export default Front
