/** Starts a run and waits a moment for its end. A repetition after a lost answer joins the run that may have begun, so nothing is paid twice. */
import { useMutation } from "@tanstack/react-query"
import { useRef } from "react"
import { api, ApiError, queries } from "../data/api.ts"
import { refreshSoon } from "../data/live.ts"
import type { RunBody } from "./request.ts"

/** Most runs end sooner. The page follows the others by their events. */
const waitSeconds = 20

interface Attempt {
  readonly text: string
  readonly key: string
}

/** The service may have begun the run although its answer did not arrive. */
const mayHaveBegun = (error: unknown) => !(error instanceof ApiError) || error.status === 0 || error.status >= 500

/** Succeeds with the id of the run, whatever became of it. Fails if there is no run. */
export const useStart = (onStarted: (run_id: string) => void) => {
  const open = useRef<Attempt | null>(null)
  return useMutation({
    mutationFn: async (body: RunBody): Promise<string> => {
      const text = JSON.stringify(body)
      const attempt = open.current?.text === text ? open.current : { text, key: crypto.randomUUID() }
      open.current = attempt
      try {
        const { run_id } = await api.runs.run(
          { payload: { ...body, wait_seconds: waitSeconds } },
          { headers: { "idempotency-key": attempt.key } }
        )
        open.current = null
        return run_id
      } catch (error) {
        const run_id = error instanceof ApiError ? error.run_id : null
        if (run_id !== null || !mayHaveBegun(error)) open.current = null
        if (run_id !== null) return run_id
        throw error
      }
    },
    onSuccess: onStarted,
    onSettled: () => {
      refreshSoon("runs")
      refreshSoon("wallet")
      void queries.invalidateQueries({ queryKey: ["guard"] })
    }
  })
}
