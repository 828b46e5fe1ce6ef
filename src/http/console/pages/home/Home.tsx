/** Home: what there is to spend, what was spent, what needs attention, and the first steps of a new organization. */
import { lazy, Suspense } from "react"
import { useSession } from "../../data/session.ts"
import { PageHead } from "../../parts/Page.tsx"
import { Skeleton } from "../../parts/States.tsx"
import { Attention } from "./Attention.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { Figures } from "./Figures.tsx"
import { Latest } from "./Latest.tsx"
import { useDailyUsage } from "./useDailyUsage.ts"

const usageChart = () => import("./UsageChart.tsx")
const Usage = lazy(usageChart)

// Asked for before the panels ask for their data: a browser has six connections to a service, and the chart's own data comes after its code.
usageChart().catch(() => {})

const Home = () => {
  const session = useSession()
  // The chart's data comes while its code does.
  useDailyUsage()
  return (
    <>
      <PageHead title="Home">{session?.organization.name}</PageHead>
      <div className="grid grid-cols-1 gap-6">
        <FirstSteps />
        <Attention />
        <Figures />
        <Suspense fallback={<Skeleton lines={6} height={24} />}>
          <Usage />
        </Suspense>
        <Latest />
      </div>
    </>
  )
}

export default Home
