/**
 * Every public error code with its HTTP status, and the wire form of an error of a request that made no run.
 *
 * A problem is plain data. Any module can fail with it, and no handler translates errors. `http/middleware/Boundary.ts` adds the request id.
 */
import { Effect, Record, Schema } from "effect"
import { shownName } from "./json/StorableText.ts"
import { type CommandHint, type Sentence, sentenceOf, withCommands } from "./Hints.ts"
import { listRuns } from "./Steps.ts"

/**
 * What is wrong with one field, or a next step. `path` is dotted ("input.email", "routing.max_cost"). It is empty for the request as a
 * whole. A next step has the request that the error's message names, and the command that does the same.
 */
export const Detail = Schema.Struct({
  path: Schema.String,
  message: Schema.String,
  http: Schema.optionalKey(Schema.String.annotate({ description: "a request that the error's message names" })),
  cli: Schema.optionalKey(Schema.String.annotate({ description: "the command line that does the same as http" }))
}).annotate({ identifier: "ErrorDetail" })
export type Detail = typeof Detail.Type

const wire = <C extends string>(code: C, httpApiStatus: number) =>
  Schema.Struct({
    error: Schema.Struct({
      code: Schema.Literal(code),
      message: Schema.String,
      details: Schema.optionalKey(Schema.Array(Detail))
    }),
    request_id: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: `${code}_error`, httpApiStatus })

/** One schema per code, built once. A schema that is built twice would be two components of the OpenAPI document. */
export const Wire = {
  invalid_request: wire("invalid_request", 400),
  unauthorized: wire("unauthorized", 401),
  insufficient_balance: wire("insufficient_balance", 402),
  cost_limit_exceeded: wire("cost_limit_exceeded", 402),
  budget_exceeded: wire("budget_exceeded", 402),
  forbidden: wire("forbidden", 403),
  capability_not_found: wire("capability_not_found", 404),
  endpoint_not_found: wire("endpoint_not_found", 404),
  provider_not_found: wire("provider_not_found", 404),
  no_match: wire("no_match", 404),
  not_found: wire("not_found", 404),
  method_not_allowed: wire("method_not_allowed", 405),
  provider_not_available: wire("provider_not_available", 409),
  cancelled: wire("cancelled", 409),
  run_not_finished: wire("run_not_finished", 409),
  repeat_guard: wire("repeat_guard", 409),
  contact_guard: wire("contact_guard", 409),
  approval_denied: wire("approval_denied", 409),
  approval_expired: wire("approval_expired", 409),
  opt_out: wire("opt_out", 409),
  wallet_suspended: wire("wallet_suspended", 409),
  configuration_changed: wire("configuration_changed", 409),
  request_timeout: wire("request_timeout", 408),
  gone: wire("gone", 410),
  payload_too_large: wire("payload_too_large", 413),
  unsupported_media_type: wire("unsupported_media_type", 415),
  organization_moved: wire("organization_moved", 421),
  idempotency_key_reused: wire("idempotency_key_reused", 422),
  rate_limited: wire("rate_limited", 429),
  internal_error: wire("internal_error", 500),
  provider_error: wire("provider_error", 502),
  outcome_unknown: wire("outcome_unknown", 502),
  service_unavailable: wire("service_unavailable", 503),
  provider_timeout: wire("provider_timeout", 504)
}

export type ErrorCode = keyof typeof Wire

export const statusOf = Record.map(Wire, ({ ast }) => Number(ast.annotations?.["httpApiStatus"]))

export interface Problem<C extends ErrorCode = ErrorCode> {
  readonly error: {
    readonly code: C
    readonly message: string
    readonly details?: ReadonlyArray<Detail>
  }
  readonly request_id?: string
}

/** One type per code, so that the contract can say which errors an endpoint returns. */
export type ProblemOf<C extends ErrorCode> = C extends ErrorCode ? Problem<C> : never

const stepOf = ({ http, cli }: CommandHint): Detail => ({
  path: "",
  message: `${http}, or at a terminal: ${cli}`,
  http,
  cli
})

export const problem = <C extends ErrorCode>(
  code: C,
  sentence: string | Sentence,
  faults: ReadonlyArray<Detail> = []
): Problem<C> => {
  const { message, commands } = sentenceOf(sentence)
  const details = [...faults, ...commands.map(stepOf)]
  return { error: { code, message, ...(details.length === 0 ? {} : { details }) } }
}

/** Fails with a problem. */
export const refusedWith = <C extends ErrorCode>(
  code: C,
  sentence: string | Sentence,
  faults?: ReadonlyArray<Detail>
): Effect.Effect<never, Problem<C>> => Effect.fail(problem(code, sentence, faults))

/** Refuses a request because of one field. `path` is dotted, such as routing.max_cost. */
export const refused = (
  path: string,
  message: string | Sentence,
  sentence: string | Sentence = path === "" ? message : withCommands`${path} ${message}`
) => Effect.fail(problem("invalid_request", sentence, [{ path, message: sentenceOf(message).message }]))

export const notACursor = refused("query.cursor", "is not a cursor of this list")

/** No run has this id, or a run that the caller may not see: the answer is the same. */
export const unknownRun = (run_id: string) =>
  problem("invalid_request", withCommands`There is no run "${shownName(run_id)}". List your runs with ${listRuns}.`, [
    { path: "path.run_id", message: "is not a run of this organization" }
  ])

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(statusOf, text)
