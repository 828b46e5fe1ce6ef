/** What a run asked for, why its providers were chosen, and its ledger entries. Read again whenever the run is. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"

export type Details = AnswerOf<"runs", "details">

const bookedMillis = 1_000

/** `state` is the run's status: details of the status before would show its old hold and entries. */
export const useDetails = (run_id: string, state: string) =>
  useRead(["run", run_id, "details", state], () => api.runs.details({ params: { run_id } }), {
    // A worker books a refund a moment after it was decided.
    refetchInterval: ({ state: { data } }) =>
      data?.warranty?.dispute?.state === "refunded" && !data.ledger.some(({ type }) => type === "refund")
        ? bookedMillis
        : false,
    // Those of the status before, never those of another run.
    placeholderData: (before) => (before?.run_id === run_id ? before : undefined)
  })
