/** Whether money and providers are real here: `test` is amber, `live` is green. */
import { useService } from "../data/session.ts"
import { Badge } from "../parts/Values.tsx"

export const Environment = () => {
  const environment = useService().data?.environment
  if (environment === undefined) return null
  return <Badge tone={environment === "test" ? "amber" : "green"}>{environment}</Badge>
}
