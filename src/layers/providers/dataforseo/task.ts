/**
 * Builds DataForSEO requests, which are arrays of one task, and reads their answers.
 *
 * A failed task arrives as HTTP 200, so the task's own status counts. Every answer reports its cost, also for misses and failed tasks.
 */
import type { Schema } from "effect"
import {
  type Call,
  type CallParts,
  type Failure,
  failure,
  type Outcome,
  type Reply
} from "../../../schema/catalog/Provider.ts"
import { cost, httpErrors, noMatch, unreadable } from "../kit/outcome.ts"
import { at, isRecord, list, number, segmentOf, text, whole } from "../kit/read.ts"

/** Status "No Search Results." */
const nothingFound = 40102
/** Status "Task Created.": the result is fetched later. */
const created = 20100
/** Statuses "Ok." and "Task In Queue." with partial results. */
const finished = new Set([20000, 40602])
/** Statuses "Task Handed." and "Task In Queue.". The second one also stands for partial results. */
const pending = new Set([40601, 40602])
/** Statuses from 40100 to 40199 usually blame the account. With these, the search engine failed or found nothing. */
const notTheAccount = new Set([40101, 40102, 40103])
const tooMany = /rate.?limit|too many|per minute|simultaneous/i
/** Enough of the provider's message to recognize the problem. */
const detailLengthMax = 200

/** The cost that an answer reports. */
export const spent = (reply: Reply) => cost("USD", reply.body, "cost")

/** The cost of all calls of an attempt: the stored cost of earlier calls plus this answer's. Null if none was reported. */
export const spentInAll = (state: Schema.Json, reply: Reply): number | null => {
  const costs = [number(state, "spent"), number(reply.body, "cost")].filter((one) => one !== null)
  return costs.length === 0 ? null : costs.reduce((sum, one) => sum + one, 0)
}

const taskOf = (reply: Reply): unknown => list(reply.body, "tasks")?.[0]

/** A task for the first endpoint of its offer. */
export const task = (input: Readonly<Record<string, unknown>>): CallParts => ({ body: [input] })

export const taskAt = (path: string, input: Readonly<Record<string, unknown>>): Call => ({
  method: "POST",
  path,
  body: [input]
})

/** Escapes keywords, because the provider URL-decodes them: "c++" would become "c  ". */
export const keyword = (words: string): string => words.replaceAll("%", "%25").replaceAll("+", "%2B")

/** Converts "2021-10-16 16:46:16 +00:00" to "2021-10-16T16:46:16Z". */
export const instant = (written: string | null): string | null =>
  written?.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) \+00:00$/, "$1T$2Z") ?? null

/** Codes 405xx name an invalid field of the task. */
const invalidField = 405

const reasonOf = (code: number, message: string): Failure["reason"] | undefined => {
  if (code < 40000 || code === nothingFound || pending.has(code)) return undefined
  if (tooMany.test(message)) return "provider_rate_limited"
  const family = Math.floor(code / 100)
  if (family === invalidField) return "provider_rejected"
  return (family === 401 && !notTheAccount.has(code)) || family === 402 || family === 403
    ? "provider_account"
    : "provider_error"
}

/** The failure in the status of a request or of a task. Undefined if the status is not an error. */
const statusError = (status: unknown): Failure | undefined => {
  const code = whole(status, "status_code")
  if (code === null) return undefined
  const message = text(status, "status_message") ?? ""
  const reason = reasonOf(code, message)
  return reason === undefined ? undefined : failure(reason, `${code}: ${message}`.slice(0, detailLengthMax))
}

const httpError = httpErrors()

export const taskError = (reply: Reply): Failure | undefined =>
  statusError(reply.body) ?? httpError(reply) ?? statusError(taskOf(reply))

/** The results of a finished task. Null if it found none, undefined if the answer can't be read. */
const resultsOf = (reply: Reply): ReadonlyArray<unknown> | null | undefined => {
  const answered = taskOf(reply)
  const code = whole(answered, "status_code")
  if (code === nothingFound) return null
  if (code === null || !finished.has(code)) return undefined
  const results = list(answered, "result")?.filter(isRecord) ?? []
  if (results.length > 0) return results
  return code === 20000 && whole(answered, "result_count") === 0 ? null : undefined
}

/** Reads the result of a finished task. `nothing` is the detail of a miss. */
export const readResult = <O>(reply: Reply, nothing: string, read: (result: unknown) => Outcome<O>): Outcome<O> => {
  const results = resultsOf(reply)
  if (results === undefined) return unreadable("tasks[0].result")
  return results === null ? noMatch(nothing) : read(results[0])
}

/** The items of a result. Null if they can't be read. Missing items are an empty list only if `items_count` is 0. */
export const itemsOf = (result: unknown): ReadonlyArray<unknown> | null =>
  list(result, "items") ?? (at(result, "items") === null && whole(result, "items_count") === 0 ? [] : null)

/** A task of normal priority takes minutes. */
const pollMillis = 5_000
export const jobTimeoutMillis = 600_000

/** Fetches the result of a posted task. Fetching is free. */
export const fetchJob = (path: string, state: Schema.Json): Call => ({
  method: "GET",
  path: `${path}/${segmentOf(text(state, "id") ?? "")}`
})

/** Polls for a posted task, and returns its outcome with the cost of all calls. */
export const followJob = <O>(
  reply: Reply,
  state: Schema.Json,
  nothing: string,
  read: (result: unknown) => Outcome<O>
): Outcome<O> => {
  const answered = taskOf(reply)
  const code = whole(answered, "status_code")
  if (state === null) {
    const id = text(answered, "id")
    if (code !== created || id === null) return unreadable("tasks[0].id")
    return { _tag: "Again", state: { id, spent: number(reply.body, "cost") }, afterMillis: pollMillis, job: true }
  }
  if (code === created || (code !== null && pending.has(code) && list(answered, "result") === null)) {
    return { _tag: "Again", state, afterMillis: pollMillis, job: true }
  }
  const outcome = readResult(reply, nothing, read)
  const total = cost("USD", spentInAll(state, reply))
  return (outcome._tag === "Match" || outcome._tag === "NoMatch") && total !== null
    ? { ...outcome, cost: total }
    : outcome
}
