/** What `rungate batch` and `rungate batch retry` show of a batch: its progress until it has ended, and its results as a CSV. */
import { writeFileSync } from "node:fs"
import { Effect } from "effect"
import { Batch, BatchResult } from "../../../schema/nouns/Batch.ts"
import { BatchesApi } from "../../api/Batches.ts"
import { readCsv } from "../../client/Csv.ts"
import type { Sheet } from "../../client/JoinedCsv.ts"
import { listLimitMax } from "../../api/shapes/Common.ts"
import type { Answer } from "../answers/Client.ts"
import { call, requestOf } from "../answers/operation.ts"
import { retryingRead } from "../answers/retryingRead.ts"
import { read, succeeded, wire } from "../answers/show.ts"
import { readText } from "../runs/input.ts"
import { exitOfError, fail, failedWith, bad } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"

const { endpoints } = BatchesApi
export type Progress = typeof Batch.Encoded

const pollEvery = "1 second"
const barWidth = 24
/** An upload of 8 MiB over a slow connection. */
export const uploadSeconds = 120

const statusLine = ({ rows, charged, max_total }: Progress): string => {
  const ended = rows.total - rows.open
  const filled = Math.floor((barWidth * ended) / rows.total)
  const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`
  return `${bar} ${ended} of ${rows.total}, $${charged}${max_total === null ? "" : ` of $${max_total}`}`
}

/** What became of the rows, such as "2 succeeded, 1 refused". */
export const outcomesOf = ({ succeeded, no_match, failed, blocked, invalid, cancelled }: Progress["rows"]): string =>
  [
    `${succeeded} succeeded`,
    ...(no_match > 0 ? [`${no_match} without a match`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(invalid > 0 ? [`${invalid} refused`] : []),
    ...(cancelled > 0 ? [`${cancelled} cancelled`] : [])
  ].join(", ")

/** Shows the progress until the batch has ended. */
export const followed = Effect.fnUntraced(function* (first: Progress) {
  const screen = yield* Screen
  const retrying = yield* retryingRead
  const { path } = requestOf(endpoints.get, { params: { batch_id: first.id } })
  let batch = first
  let isShown = false
  while (!batch.done) {
    if (batch.approval !== undefined && !isShown) yield* screen.warn(batch.approval.tell)
    isShown ||= batch.approval !== undefined
    yield* screen.status(statusLine(batch))
    yield* Effect.sleep(pollEvery)
    batch = yield* read(Batch, yield* retrying(path))
  }
  yield* screen.status("")
  return batch
})

const written = (path: string, csv: string) =>
  Effect.try({
    try: () => writeFileSync(path, csv),
    catch: () => failedWith(`Can't write ${path}. The batch is done; run the same command with another -o.`)
  })

/** Reads a file, or stdin for `-`. `text` is the whole of it. */
export const linesOf = Effect.fnUntraced(function* (file: string) {
  const text = (yield* readText(file)).replace(/^\ufeff/, "")
  const { rows: all, brokenLine } = readCsv(text)
  const [header, ...rows] = all
  if (brokenLine !== null) return yield* bad(`${file} has a quote that is not closed, in line ${brokenLine}.`)
  if (header === undefined || rows.length === 0) return yield* bad(`${file} needs a header line and a row.`)
  return { text, header, rows }
})

/** Follows the batch to its end, and writes its results beside the lines. Fails if a row is blocked, or if all are refused. */
export const untilResults = Effect.fnUntraced(function* (
  started: Progress,
  { header, rows }: Sheet,
  output: string | null
) {
  const screen = yield* Screen
  const ended = yield* Effect.onInterrupt(followed(started), () =>
    screen.warn(
      `\nStopped watching; ${started.id} continues. Run the same command to see its results, or stop it with: rungate api POST /v1/batches/${started.id}/cancel`
    )
  )
  const { joinedCsv } = yield* Effect.promise(() => import("../../client/JoinedCsv.ts"))
  const results: Array<typeof BatchResult.Encoded> = []
  for (let last = 0; last < ended.rows.total; ) {
    const part = { params: { batch_id: ended.id }, query: { limit: String(listLimitMax), cursor: String(last) } }
    const how = { headers: { accept: "application/x-ndjson" }, seconds: uploadSeconds }
    const page: Answer = yield* Effect.flatMap(call(endpoints.results, part, how), succeeded)
    const lines = page.text.split("\n").filter((line) => line !== "")
    // A line that a newer service wrote otherwise is left out.
    results.push(...lines.flatMap((line) => wire(BatchResult, line) ?? []))
    const next = Number(/^\{"row":(\d+)/.exec(lines.at(-1) ?? "")?.[1] ?? 0)
    if (next <= last) break
    last = next
  }
  const outcome = joinedCsv({ header, rows }, results)
  yield* output === null || output === "-" ? screen.out(outcome) : written(output, outcome)
  yield* screen.say(`${ended.id} is ${ended.status}: ${outcomesOf(ended.rows)}; $${ended.charged} charged.`)
  if (ended.rows.invalid === ended.rows.total) {
    const first = results.find(({ row }) => row === 1)?.error?.message ?? "the results say why"
    return yield* bad(`All ${ended.rows.total} rows were refused, and nothing was run. The first: ${first}`)
  }
  const blocked = results.find(({ status }) => status === "blocked")?.error
  if (blocked !== undefined)
    return yield* fail(
      exitOfError(blocked.code),
      `Not all rows were run. The first that was blocked: ${blocked.message}${ended.status === "finished" ? ` To run the blocked rows again: rungate batch retry ${ended.id}` : ""}`
    )
})
