/** Home: what there is to spend, what was spent, what needs attention, and the first steps of a new organization. */
import { useSession } from "../../data/session.ts"
import { Page } from "../../parts/Page.tsx"
import { Attention } from "./Attention.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { Figures } from "./Figures.tsx"
import { Latest } from "./Latest.tsx"
import UsageChart from "./UsageChart.tsx"

const Home = () => {
  const session = useSession()
  return (
    <Page title="Home" lead={session?.organization.name}>
      <FirstSteps />
      <Attention />
      <Figures />
      <UsageChart />
      <Latest />
    </Page>
  )
}

export default Home
