/**
 * `rungate batch people.csv`: runs a capability for each line of a CSV, shows the progress, and writes the results beside the lines.
 * At a terminal it shows first what the file may cost, and asks.
 *
 * The Idempotency-Key is made of the file's text and the options. So the same command, after Ctrl-C, a crash or on another machine, joins
 * the same batch, and no line is paid twice.
 */
import { Effect } from "effect"
import { Command, Flag, Argument } from "effect/cli"
import { usd as usdText } from "../../../schema/money/Money.ts"
import { Batch } from "../../../schema/nouns/Batch.ts"
import { metadataPrefix } from "../../../schema/runs/Metadata.ts"
import { BatchesApi } from "../../api/Batches.ts"
import { drawn, factLines, listed, nounFacts } from "../answers/draw.ts"
import { call, ask } from "../answers/operation.ts"
import { row } from "../answers/row.ts"
import { read } from "../answers/show.ts"
import { Screen } from "../terminal/Screen.ts"
import { argument, boolean, metadata, text, withExamples, optional, optionalArgument, usd } from "../terminal/flags.ts"
import { linesOf, outcomesOf, untilResults, uploadSeconds, followed, type Progress } from "./BatchProgress.ts"
import { bad } from "../terminal/exits.ts"
import type { Sheet } from "../../client/JoinedCsv.ts"

const { endpoints } = BatchesApi

const batchList = row(endpoints.list, {
  show: listed(
    Batch,
    "There are no batches. Start one with: rungate batch people.csv --capability email.find --max-total 25.00"
  )
})

const batchGet = row(endpoints.get, {
  fields: { batch_id: "the batch, bat_…" },
  show: drawn(Batch, (batch, shown) => [
    ...factLines(
      nounFacts(Batch, batch, shown, {
        rows: ({ rows }) => `${rows.total}, ${rows.open} open: ${outcomesOf(rows)}`
      }),
      shown
    ),
    "",
    `Results: rungate api GET /v1/batches/${batch.id}/results`,
    ...(batch.rows.blocked === 0 ? [] : [`Run the blocked rows again: rungate batch retry ${batch.id}`])
  ])
})

const keyOf = (parts: ReadonlyArray<string>): string =>
  `batch-${new Bun.CryptoHasher("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 40)}`

/** The file's lines. Without a file, the numbers of the rows. */
const linesFor = Effect.fnUntraced(function* ({ id, rows: { total } }: Progress, file: string | null) {
  if (file === null) {
    const lines: Sheet = { header: ["row"], rows: Array.from({ length: total }, (_, index) => [String(index + 1)]) }
    return lines
  }
  const lines = yield* linesOf(file)
  if (lines.rows.length === total) return lines
  return yield* bad(
    `${file} has ${lines.rows.length} rows, and ${id} has ${total}. Give the file that the batch was made of. Nothing was run.`
  )
})

/**
 * `rungate batch retry bat_…`: runs the blocked rows of a batch again, in the same batch. Rows that ran are not run again.
 *
 * It starts no other batch, so it can be repeated after Ctrl-C or a crash.
 */
const batchRetry = Command.make(
  "retry",
  {
    batch_id: argument("batch_id", "the batch, bat_…"),
    file: optionalArgument(Argument.String("file"), "the CSV of the batch, to write the results beside its lines"),
    maxTotal: optional(
      usd("max-total", "the new limit of the whole batch in USD, with what it has charged; default: as before")
    ),
    output: text("output", "the file for the results; default: stdout").pipe(Flag.withAlias("o"))
  },
  Effect.fnUntraced(function* ({ batch_id, file, maxTotal, output }) {
    const screen = yield* Screen
    const params = { batch_id }
    const batch = yield* ask(endpoints.get, { params }, Batch)
    const lines = yield* linesFor(batch, file)
    const ended = yield* followed(batch)
    const payload = maxTotal === null ? {} : { max_total: usdText(maxTotal) }
    const retried = ended.rows.blocked === 0 ? ended : yield* ask(endpoints.retry, { params, payload }, Batch)
    yield* screen.say(
      ended.rows.blocked === 0
        ? `No row of ${ended.id} is blocked.`
        : `Retrying ${retried.rows.open} of ${ended.rows.blocked} blocked rows of ${ended.id}.`
    )
    yield* untilResults(retried, lines, output)
  })
).pipe(
  Command.withDescription("Run the blocked rows of a batch again; nothing is paid twice"),
  withExamples({
    "rungate batch retry bat_… people.csv -o out.csv": "After a top-up",
    "rungate batch retry bat_… --max-total 40.00": "With a higher limit for the whole batch"
  })
)

export const batch = Command.make(
  "batch",
  {
    file: argument("file", "a CSV with a header line, or - for stdin"),
    capability: Flag.String("capability").pipe(Flag.withDescription("the capability that runs for each line")),
    map: Flag.String("map").pipe(
      Flag.withDescription(
        "which column fills which field: full_name=Name,company_domain=Website, or once for each field; default: by their names, as the column First Name fills first_name"
      ),
      Flag.atLeast(0),
      Flag.map((pairs) => (pairs.length === 0 ? null : pairs.join(",")))
    ),
    maxTotal: usd("max-total", "the most that the whole batch may cost in USD, such as 25.00"),
    labels: metadata("a label of all its runs as name=value, such as customer=acme; may be repeated"),
    output: text("output", "the file for the results; default: stdout").pipe(Flag.withAlias("o")),
    again: boolean("again", "run the same file once more, and pay for it once more"),
    yes: boolean("yes", "skip the quote and the confirmation").pipe(Flag.withAlias("y"))
  },
  Effect.fnUntraced(function* ({ file, capability, map, maxTotal, labels, output, again, yes }) {
    const screen = yield* Screen
    const { text: csv, header, rows } = yield* linesOf(file)
    if (screen.askable && !yes) {
      const { confirmBatch } = yield* Effect.promise(() => import("./batchQuote.ts"))
      yield* confirmBatch({ header, rows, capability, map, maxTotal, labels, again })
    }
    const max_total = usdText(maxTotal)
    const parameters = Object.fromEntries(labels.map(([name, value]) => [`${metadataPrefix}${name}` as const, value]))
    const query = { capability, max_total, ...(map === null ? {} : { map }), ...parameters }
    const key = keyOf([csv, capability, map ?? "", max_total, again ? crypto.randomUUID() : "", ...labels.flat()])
    const how = { text: csv, type: "text/csv", headers: { "idempotency-key": key }, seconds: uploadSeconds }
    const answer = yield* call(endpoints.create, { query, payload: csv }, how)
    const started = yield* read(Batch, answer)
    const joined = answer.headers["idempotent-replay"] === "true"
    yield* screen.say(
      joined
        ? `This file was sent before: joining ${started.id}. To run and pay it once more, add --again.`
        : `Started ${started.id}: ${started.rows.total} rows for at most $${usdText(maxTotal)}.`
    )
    yield* untilResults(started, { header, rows }, output)
  })
).pipe(
  Command.withDescription("Run a capability for each line of a CSV; list, read and retry batches"),
  withExamples({
    "rungate batch people.csv --capability email.find --map full_name=Name,company_domain=Website --max-total 25.00 -o out.csv":
      "Start it, or join it if it was started before"
  }),
  Command.withSubcommands([batchList, batchGet, batchRetry])
)
