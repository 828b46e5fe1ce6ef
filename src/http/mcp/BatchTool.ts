/**
 * The tool run_batch: starts a batch and answers its id, the handle with which the same tool reads or cancels it.
 *
 * The Idempotency-Key is a digest of the arguments, so a repeated call joins the same batch and pays nothing twice.
 */
import { Clock, Effect, Option, Schema } from "effect"
import { segmentOf } from "../../schema/Ids.ts"
import { bodyOf } from "../../schema/json/JsonText.ts"
import { usd } from "../../schema/money/Money.ts"
import { metadataAs } from "../../schema/runs/Metadata.ts"
import { batchRowsMax } from "../../schema/batches/Batch.ts"
import { Batch } from "../../schema/nouns/Batch.ts"
import { component } from "../../schema/nouns/Noun.ts"
import { listLimitMax } from "../api/shapes/Common.ts"
import { waitSecondsMax } from "../api/shapes/Limits.ts"
import { answered, refusal, refusalIn, replied, unanswered, withMembers } from "./Answers.ts"
import { Progress } from "./Register.ts"
import { type Answer, type NoAnswer, send, type Service } from "./Service.ts"
import { tool } from "./Tool.ts"
import { between, dollars, flag, IdempotencyKey, named, optional } from "./Tools.ts"

/** Runs in one call: what a model writes. Longer lists are sent with the API or `rungate batch`. */
const runsMax = 200
/** Longer results are read in parts, to leave room in the context of the model. */
const resultsCharsMax = 60_000

/** Also how often the host is told the progress. */
const pollSeconds = 2

const name = "run_batch"

const BatchAnswer = component("BatchAnswer", {
  ...Batch.fields,
  results: optional(
    Schema.Array(Schema.Json).annotate({
      description: "rows that have ended: row, status, run_id, charged, result, error; next, if the result is too long"
    })
  ),
  next_row: optional(Schema.Int.annotate({ description: "more results follow: give it as results_after" })),
  next: optional(Schema.String.annotate({ description: "the next step" }))
})

export const runBatch = tool({
  name,
  title: "Run and pay many",
  description:
    "Run up to 200 requests at once. SPENDS MONEY from the prepaid wallet, at most max_total for all together. Answers at once with id: call run_batch with batch_id to read the progress and the results, to wait for the end, to cancel, or to run blocked rows again. The same runs and max_total join the same batch; to run them again on purpose, give a new idempotency_key.",
  parameters: Schema.Struct({
    runs: optional(
      Schema.Array(Schema.JsonObject).check(Schema.isMinLength(1), Schema.isMaxLength(runsMax)).annotate({
        description:
          'the runs, such as {"capability": "email.verify", "input": {"email": "ada@example.com"}}; input as inspect shows it'
      })
    ),
    max_total: optional(
      dollars(
        'required with runs: the most that all runs may cost together in USD, such as "2.50"; with retry_blocked: the new limit of the whole batch'
      )
    ),
    metadata: optional(metadataAs('labels of your own for the runs, such as {"campaign": "spring"}')),
    idempotency_key: optional(IdempotencyKey.annotate({ description: "generated from the arguments by default" })),
    batch_id: optional(named("reads this batch, bat_…, instead", 100)),
    results_after: optional(
      between(0, batchRowsMax, "with batch_id: only results of later rows; next_row of the previous answer")
    ),
    wait_seconds: optional(
      between(
        0,
        waitSecondsMax,
        `with batch_id: how long to wait for the end of the batch, 0 to ${waitSecondsMax}; default: 0`
      )
    ),
    retry_blocked: flag(
      "with batch_id: SPENDS MONEY, runs the blocked rows of a finished batch again, such as after a top-up"
    ),
    cancel: flag("with batch_id: cancels the rows that have not started")
  }),
  answers: [BatchAnswer],
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
})

type Given = Parameters<Parameters<typeof runBatch.withHandler>[0]>[0]

/** The batch, or the refusal of the request. */
const batchOrRefusal = Effect.fnUntraced(function* (asking: Effect.Effect<Answer, NoAnswer, Service>) {
  const answer = yield* asking
  return { text: answer.text, refused: yield* refusalIn(name, answer) }
})

const start = Effect.fnUntraced(function* ({ runs = [], max_total, metadata, idempotency_key }: Given) {
  if (max_total === undefined)
    return yield* refusal(name, {
      code: "invalid_request",
      message: "max_total is required: the most that all runs may cost together."
    })
  const text = bodyOf({ max_total: usd(max_total), metadata }, { runs: JSON.stringify(runs) })
  const key = idempotency_key ?? `mcp-${new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 40)}`
  const next = "Call run_batch with batch_id and wait_seconds to read the progress and the results."
  return yield* replied(name, send("POST", "/v1/batches", { text, headers: { "idempotency-key": key } }), (batch) =>
    Effect.succeed(answered(name, withMembers(batch, { next: JSON.stringify(next) })))
  )
})

const rowOf = (line: string): number => Number(/^\{"row":(\d+)/.exec(line)?.[1] ?? 0)

/** A row without a result that is too long for an answer. */
const shownRow = (line: string): string => {
  if (line.length <= resultsCharsMax) return line
  const { result: _, ...row }: Record<string, unknown> = JSON.parse(line)
  const next = `The result is long. Read it in parts with get_run ${JSON.stringify({ run_id: row["run_id"] })}.`
  return JSON.stringify({ ...row, next })
}

/** The results after a row, as many as fit into an answer. */
const resultsOf = Effect.fnUntraced(function* (path: string, after: number, total: number) {
  const taken: Array<string> = []
  let last = after
  let chars = 0
  for (;;) {
    const page = yield* batchOrRefusal(send("GET", `${path}/results?limit=${listLimitMax}&cursor=${last}`))
    if (page.refused !== null) return page.refused
    const lines = page.text.split("\n").flatMap((line) => (line === "" ? [] : [shownRow(line)]))
    for (const line of lines) {
      if (taken.length > 0 && chars + line.length > resultsCharsMax) return { taken, next_row: String(last) }
      taken.push(line)
      chars += line.length
      last = rowOf(line)
    }
    if (lines.length === 0 || last >= total) return { taken, next_row: undefined }
  }
})

const decodeBatch = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.toEncoded(Batch)))

/** Reads the batch until it has ended or the time is over, and tells the host the progress. */
const waitedFor = Effect.fnUntraced(function* (path: string, seconds: number) {
  const tell = yield* Progress
  const until = (yield* Clock.currentTimeMillis) + seconds * 1_000
  for (;;) {
    const batch = yield* batchOrRefusal(send("GET", path))
    const progress = Option.getOrNull(decodeBatch(batch.text))
    const left = until - (yield* Clock.currentTimeMillis)
    if (batch.refused !== null || progress === null || progress.done || left <= 0) return batch
    // A person may take days to answer.
    if (progress.approval?.waiting === progress.rows.open) return batch
    const { id, rows, charged } = progress
    yield* tell(`${name}: ${rows.total - rows.open} of ${rows.total} rows of ${id} have ended, $${charged} charged`)
    yield* Effect.sleep(Math.min(left, pollSeconds * 1_000))
  }
})

const unfinished =
  "Rows before next_row may still end. When done is true, read the results again from the start, without results_after."

const read = Effect.fnUntraced(function* (batch_id: string, given: Given) {
  const { cancel = false, retry_blocked = false, max_total, results_after = 0, wait_seconds = 0 } = given
  const path = `/v1/batches/${segmentOf(batch_id)}`
  if (cancel) {
    const { refused } = yield* batchOrRefusal(send("POST", `${path}/cancel`))
    if (refused !== null) return refused
  }
  if (retry_blocked) {
    const body = max_total === undefined ? {} : { max_total: usd(max_total) }
    const { refused } = yield* batchOrRefusal(send("POST", `${path}/retry`, { text: JSON.stringify(body) }))
    if (refused !== null) return refused
  }
  const batch = yield* waitedFor(path, wait_seconds)
  if (batch.refused !== null) return batch.refused
  const { done, rows, approval } = Option.getOrNull(decodeBatch(batch.text)) ?? { done: true, rows: null }
  const results = yield* resultsOf(path, results_after, rows?.total ?? Number.MAX_SAFE_INTEGER)
  if (!("taken" in results)) return results
  const { taken, next_row } = results
  const steps = [
    ...(approval === undefined ? [] : [`Tell your person: ${approval.tell} Do not start the batch again.`]),
    ...(done || next_row === undefined ? [] : [unfinished])
  ]
  const next = steps.length === 0 ? undefined : JSON.stringify(steps.join(" "))
  return answered(name, withMembers(batch.text, { results: `[${taken.join(",")}]`, next_row, next }))
})

export const runBatchTool = (given: Given) => {
  const { runs, batch_id } = given
  if ((runs === undefined) === (batch_id === undefined)) {
    const message = "Give either runs, to start a batch, or batch_id, to read one."
    return refusal(name, { code: "invalid_request", message })
  }
  if (given.cancel === true && given.retry_blocked === true) {
    const message = "Give either cancel or retry_blocked."
    return refusal(name, { code: "invalid_request", message })
  }
  return (batch_id === undefined ? start(given) : read(batch_id, given)).pipe(
    Effect.catch((error) => unanswered(name, error))
  )
}
