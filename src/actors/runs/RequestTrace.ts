/** Keeps the trace of a request in the plan of its run, so that the worker that executes it continues the trace. */
import { Effect } from "effect"
import type { NewRun } from "../../layers/runs/NewRuns.ts"

/** `trace` is a `traceparent`. Without one, the run is as it was. */
export const traced = <E>(prepared: Effect.Effect<NewRun, E>, trace: string | null | undefined) =>
  trace === undefined || trace === null
    ? prepared
    : Effect.map(prepared, (run): NewRun => ({ ...run, plan: { ...run.plan, trace } }))
