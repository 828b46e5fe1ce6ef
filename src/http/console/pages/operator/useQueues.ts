/** Lanes, their backlog and open runs, read again every few seconds while the page is visible. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"

export type QueuesState = AnswerOf<"operatorQueues", "get">

const refreshMillis = 5_000
/** /readyz calls a service not ready when a command waits for longer. */
export const backlogSecondsMax = 30

export const useQueues = () =>
  useRead(["operator", "queues"], () => api.operatorQueues.get({}), { refetchInterval: refreshMillis })

/** Seconds that the oldest command of all lanes has waited. Null if none waits. */
export const oldestOf = ({ lanes }: QueuesState): number | null => {
  const ages = lanes.flatMap(({ oldest_seconds }) => oldest_seconds ?? [])
  return ages.length === 0 ? null : Math.max(...ages)
}

export const secondsText = (seconds: number): string =>
  seconds < 60 ? `${seconds.toFixed(seconds < 10 ? 1 : 0)} s` : `${Math.floor(seconds / 60)} min`
