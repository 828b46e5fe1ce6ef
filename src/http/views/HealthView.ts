/** Shows metrics and health in inspect and discover (specification 2.4, 2.6). */
import { type Measured, orReported } from "../../schema/runs/Health.ts"

export const metricsView = ({ metrics }: Measured) => metrics

/** `reported` are the counts of the last 30 days that the provider itself publishes for a raw endpoint. */
export const healthView = (
  { health }: Measured,
  reported: { readonly succeeded: number; readonly total: number } | null = null
) => orReported(health, reported)
