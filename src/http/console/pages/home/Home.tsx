/** Home: what there is to spend, what was spent, what needs attention, and the first steps of a new organization. */
import { useSession } from "../../data/session.ts"
import { PageHead } from "../../parts/Page.tsx"
import { Attention } from "./Attention.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { Figures } from "./Figures.tsx"
import { Latest } from "./Latest.tsx"
import UsageChart from "./UsageChart.tsx"

const Home = () => {
  const session = useSession()
  return (
    <>
      <PageHead title="Home">{session?.organization.name}</PageHead>
      <div className="grid grid-cols-1 gap-6">
        <FirstSteps />
        <Attention />
        <Figures />
        <UsageChart />
        <Latest />
      </div>
    </>
  )
}

export default Home
