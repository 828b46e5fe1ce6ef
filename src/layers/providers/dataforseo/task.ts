/**
 * How DataForSEO is asked and how it answers: an array of one task, and HTTP 200 around whatever became of it.
 *
 * The status that counts is the task's own. Every answer reports what it has cost, misses and failed tasks included.
 */
import type { Schema } from "effect"
import { type Call, type Failure, failure, type Outcome, type Reply } from "../../../schema/catalog/Provider.ts"
import { cost, noMatch } from "../kit/outcome.ts"
import { at, isRecord, list, number, segment, text, whole } from "../kit/read.ts"
import { httpErrors, unreadable } from "../kit/httpErrors.ts"

/** "No Search Results." */
const nothingFound = 40102
/** "Task Created.": its result is fetched later. */
const created = 20100
/** "Ok.", and results of which some pages are missing. */
const finished = new Set([20000, 40602])
/** "Task Handed." and "Task In Queue.": the second has the number of partial results, which come with results. */
const pending = new Set([40601, 40602])
/** Statuses between 40100 and 40200 that are not about the account: the search engine failed, or found nothing. */
const notTheAccount = new Set([40101, 40102, 40103])
const tooMany = /rate.?limit|too many|per minute|simultaneous/i
/** Enough to recognize the problem. */
const detailLengthMax = 200

/** What an answer says that its call has cost. */
export const spent = (reply: Reply) => cost("USD", reply.body, "cost")

/** Of calls that belong together: what the ones before have cost, and this one; null when none said. */
export const spentInAll = (state: Schema.Json, reply: Reply): number | null => {
  const said = [number(state, "spent"), number(reply.body, "cost")].filter((one) => one !== null)
  return said.length === 0 ? null : said.reduce((sum, one) => sum + one, 0)
}

const taskOf = (reply: Reply): unknown => list(reply.body, "tasks")?.[0]

export const task = (path: string, input: Readonly<Record<string, unknown>>): Call => ({
  method: "POST",
  path,
  body: [input]
})

/** Keywords arrive URL-decoded: a plain "c++" would be searched for as "c  ". */
export const keyword = (words: string): string => words.replaceAll("%", "%25").replaceAll("+", "%2B")

/** "2021-10-16T16:46:16Z" of "2021-10-16 16:46:16 +00:00". */
export const instant = (written: string | null): string | null =>
  written?.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) \+00:00$/, "$1T$2Z") ?? null

/** Codes 405xx say which field of the task is wrong, inside HTTP 200. */
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

/** The failure that a request's or a task's own status means. */
const statusTrouble = (status: unknown): Failure | undefined => {
  const code = whole(status, "status_code")
  if (code === null) return undefined
  const message = text(status, "status_message") ?? ""
  const reason = reasonOf(code, message)
  return reason === undefined ? undefined : failure(reason, `${code}: ${message}`.slice(0, detailLengthMax))
}

const httpTrouble = httpErrors()

export const taskTrouble = (reply: Reply): Failure | undefined =>
  statusTrouble(reply.body) ?? httpTrouble(reply) ?? statusTrouble(taskOf(reply))

/** What a finished task found: every result, or null when it found none. Undefined when that can't be read. */
const resultsOf = (reply: Reply): ReadonlyArray<unknown> | null | undefined => {
  const answered = taskOf(reply)
  const code = whole(answered, "status_code")
  if (code === nothingFound) return null
  if (code === null || !finished.has(code)) return undefined
  const results = list(answered, "result")?.filter(isRecord) ?? []
  if (results.length > 0) return results
  return code === 20000 && whole(answered, "result_count") === 0 ? null : undefined
}

/** Reads the results of a finished task. `nothing` words its misses. */
export const readResults = <O>(
  reply: Reply,
  nothing: string,
  read: (results: ReadonlyArray<unknown>) => Outcome<O>
): Outcome<O> => {
  const results = resultsOf(reply)
  if (results === undefined) return unreadable("tasks[0].result")
  return results === null ? noMatch(nothing, spent(reply)) : read(results)
}

/** The same of tasks with one result. */
export const readResult = <O>(reply: Reply, nothing: string, read: (result: unknown) => Outcome<O>): Outcome<O> =>
  readResults(reply, nothing, (results) => read(results[0]))

/** The items of a result; none is an answer only when it says that there are none. */
export const itemsOf = (result: unknown): ReadonlyArray<unknown> | null =>
  list(result, "items") ?? (at(result, "items") === null && whole(result, "items_count") === 0 ? [] : null)

/** Normal priority takes minutes. */
const pollMillis = 5_000
export const jobTimeoutMillis = 600_000

/** Fetches the result of a posted task; fetching costs nothing. */
export const fetchJob = (path: string, state: Schema.Json): Call => ({
  method: "GET",
  path: `${path}/${segment(text(state, "id") ?? "")}`
})

/** Waits for a posted task, and hands on its answer together with what it has cost. */
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
  const known = cost("USD", spentInAll(state, reply))
  return (outcome._tag === "Match" || outcome._tag === "NoMatch") && known !== null
    ? { ...outcome, cost: known }
    : outcome
}
