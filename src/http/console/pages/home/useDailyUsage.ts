/** Usage of the last 30 days, by UTC day. */
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { api } from "../../data/api.ts"
import { present } from "../../data/clock.ts"
import { utcDay } from "../../data/time.ts"

const daysShown = 30

const lastDays = (): ReadonlyArray<string> => {
  const now = present()
  return Array.from({ length: daysShown }, (_, index) => utcDay(now, daysShown - 1 - index))
}

export const useDailyUsage = () => {
  const days = useMemo(lastDays, [])
  const from = days[0] ?? ""
  const usage = useQuery({
    queryKey: ["usage", "days", from],
    queryFn: () => api.usage.get({ query: { group_by: "day", from, limit: 200 } }),
    staleTime: 60_000
  })
  return { days, usage }
}
