/** The address `/`: Home for a session, and for everybody else what this service is. */
import { lazy, Suspense } from "react"
import { useSession } from "../../data/session.ts"
import { Skeleton } from "../../parts/States.tsx"
import { Start } from "./Start.tsx"

const Home = lazy(() => import("../home/Home.tsx"))

const Front = () =>
  useSession() === null ? (
    <Start />
  ) : (
    <Suspense fallback={<Skeleton lines={6} />}>
      <Home />
    </Suspense>
  )

export default Front
