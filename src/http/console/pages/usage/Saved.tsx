/** What runs of the period saved, because they took a result that was bought before. Nothing if none did. */
import { useQuery } from "@tanstack/react-query"
import { api } from "../../data/api.ts"
import { Money } from "../../parts/Money.tsx"

export const Saved = ({ period }: { readonly period: { readonly from?: string; readonly to?: string } }) => {
  const usage = useQuery({
    queryKey: ["usage", "saved", period],
    queryFn: () => api.usage.get({ query: { ...period, limit: 1 } })
  })
  const reused = usage.data?.reused
  if (reused === undefined) return null
  return (
    <p className="text-muted">
      {reused.runs.toLocaleString("en")} {reused.runs === 1 ? "run" : "runs"} of this time reused an earlier result,
      which saved <Money amount={reused.saved} />.
    </p>
  )
}
