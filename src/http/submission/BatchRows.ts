/**
 * Checks the runs of a batch before it is stored, and writes them as rows.
 *
 * What a program got wrong is refused as a whole, with the field: the form of a run, and a target that does not exist or that the API key
 * may not call. What is wrong with the data of a row is found when the row is run.
 */
import { Effect } from "effect"
import type { Admission } from "../../actors/runs/Admission.ts"
import type { RunCaller, PlanRequest } from "../../actors/runs/RunRequests.ts"
import { encodeRowRequest } from "../../schema/batches/RowRequest.ts"
import { problem, type Problem, refusedWith } from "../../schema/Errors.ts"
import type { BatchRun } from "../api/Batches.ts"
import { requestOf } from "./SubmitRun.ts"

/** Targets that are checked before the batch is stored. Other batches have a few. */
const targetsMax = 100

/** The message and details of a run's refusal, with paths that begin at the batch's body. */
const inRow = (index: number, { error }: Problem) => {
  const details = (error.details ?? []).map((one) =>
    one.path === "" ? one : { ...one, path: `runs.${index}.${one.path}` }
  )
  return [`runs.${index}: ${error.message}`, details] as const
}

/** The refusal of a run whose target does not exist or is outside the key's scope. Null for other refusals, which are about its input. */
const targetRefusal = (index: number, refusal: Problem) => {
  const { code } = refusal.error
  if (code === "capability_not_found") return problem(code, ...inRow(index, refusal))
  if (code === "endpoint_not_found") return problem(code, ...inRow(index, refusal))
  return code === "forbidden" ? problem(code, ...inRow(index, refusal)) : null
}

/** Where a value has an integer that lost digits when it was read. Null without one. */
const inexactIn = (value: unknown, path: string): string | null => {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value) ? path : null
  if (typeof value !== "object" || value === null) return null
  for (const [name, child] of Object.entries(value)) {
    const inexact = inexactIn(child, `${path}.${name}`)
    if (inexact !== null) return inexact
  }
  return null
}

const targetOf = (planned: PlanRequest): string =>
  planned._tag === "Capability"
    ? planned.request.capability
    : `${planned.request.provider} ${planned.request.method ?? ""} ${planned.request.endpoint}`

const stored = (run: BatchRun, planned: PlanRequest): string => {
  const { input, path, query } = run
  if (planned._tag === "Capability") {
    const { capability, routing, include_raw, metadata, unless_contacted_within_seconds = null } = planned.request
    const { reuse = null, accept = null } = planned.request
    const { max_total = null } = routing
    return encodeRowRequest({
      ...{
        _tag: "Capability",
        capability,
        input,
        include_raw,
        metadata,
        unless_contacted_within_seconds,
        reuse,
        accept
      },
      routing: { ...routing, max_total }
    })
  }
  const { provider, endpoint, method, max_cost, max_total = null, reuse = null, metadata } = planned.request
  return encodeRowRequest({
    ...{ _tag: "Endpoint", provider, endpoint, method, path: path ?? {}, query: query ?? {}, input },
    ...{ max_cost, max_total, reuse, metadata }
  })
}

/** JSON texts of the rows' requests. */
export const batchRows = (admission: Admission["Service"]) =>
  Effect.fnUntraced(function* (runs: ReadonlyArray<BatchRun>, caller: RunCaller) {
    const rows: Array<string> = []
    const targets = new Set<string>()
    for (const [index, run] of runs.entries()) {
      const own = { ...caller, metadata: run.metadata ?? null }
      const planned = yield* Effect.mapError(requestOf(run, own, Effect.succeed("")), (refusal) =>
        problem("invalid_request", ...inRow(index, refusal))
      )
      // A provider's endpoint gets the numbers of POST /v1/run as they were written. A row is stored as it was read.
      const inexact = planned._tag === "Endpoint" ? inexactIn(run.input, `runs.${index}.input`) : null
      if (inexact !== null) {
        const message =
          "is an integer with too many digits for JSON. Send it as a string, or this run with POST /v1/run"
        return yield* refusedWith("invalid_request", `${inexact} ${message}`, [{ path: inexact, message }])
      }
      const target = targetOf(planned)
      if (!targets.has(target) && targets.size < targetsMax) {
        targets.add(target)
        const result = yield* Effect.result(admission.plan(planned))
        const refusal = result._tag === "Failure" ? targetRefusal(index, result.failure) : null
        if (refusal !== null) return yield* Effect.fail(refusal)
      }
      rows.push(stored(run, planned))
    }
    return rows
  })
