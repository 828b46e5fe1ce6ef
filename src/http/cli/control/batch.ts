/**
 * `rungate batch people.csv`: runs a capability for each line of a CSV, shows the progress, and writes the results beside the lines.
 *
 * The Idempotency-Key is made of the file's text and the options. So the same command, after Ctrl-C, a crash or on another machine, joins
 * the same batch, and no line is paid twice.
 */
import { writeFileSync } from "node:fs"
import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Usd, usd } from "../../../schema/money/Money.ts"
import { Batch } from "../../api/Batches.ts"
import { readCsv } from "../../client/Csv.ts"
import { Client } from "../answers/Client.ts"
import { retryingRead } from "../answers/retryingRead.ts"
import { decoded, failureOf } from "../answers/show.ts"
import { readText } from "../runs/input.ts"
import { boolean, text, usd as usdFlag } from "../terminal/flags.ts"
import { exitOfError, fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"

type Progress = typeof Batch.Type

const pollEvery = "1 second"
const barWidth = 24
/** An upload of 8 MiB over a slow connection. */
const uploadSeconds = 120

const keyOf = (parts: ReadonlyArray<string>): string =>
  `batch-${new Bun.CryptoHasher("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 40)}`

const statusLine = ({ rows, charged, max_total }: Progress): string => {
  const ended = rows.total - rows.open
  const filled = Math.floor((barWidth * ended) / rows.total)
  const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`
  return `${bar} ${ended} of ${rows.total}, $${charged}${max_total === null ? "" : ` of $${max_total}`}`
}

const summary = ({ id, status, rows, charged }: Progress): string => {
  const parts = [
    `${rows.succeeded} succeeded`,
    ...(rows.no_match > 0 ? [`${rows.no_match} without a match`] : []),
    ...(rows.failed > 0 ? [`${rows.failed} failed`] : []),
    ...(rows.blocked > 0 ? [`${rows.blocked} blocked`] : []),
    ...(rows.invalid > 0 ? [`${rows.invalid} refused`] : []),
    ...(rows.cancelled > 0 ? [`${rows.cancelled} cancelled`] : [])
  ]
  return `${id} is ${status}: ${parts.join(", ")}; $${charged} charged.`
}

const unreadable = fail("failed", "The service sent a batch that this version of rungate can't read. Update rungate.")

/** Shows the progress until the batch has ended. */
const followed = Effect.fnUntraced(function* (first: Progress) {
  const screen = yield* Screen
  const read = yield* retryingRead
  let batch = first
  while (!batch.done) {
    yield* screen.status(statusLine(batch))
    yield* Effect.sleep(pollEvery)
    batch = decoded(Batch, (yield* read(`/v1/batches/${batch.id}`)).text) ?? (yield* unreadable)
  }
  yield* screen.status("")
  return batch
})

const written = (path: string, csv: string) =>
  Effect.try({
    try: () => writeFileSync(path, csv),
    catch: () => fail("failed", `Can't write ${path}. The batch is done; run the same command with another -o.`)
  })

const encodeUsd = Schema.encodeSync(Usd)

export const batch = Command.make(
  "batch",
  {
    file: Argument.String("file").pipe(Argument.withDescription("a CSV with a header line, or - for stdin")),
    capability: Flag.String("capability").pipe(Flag.withDescription("the capability that runs for each line")),
    map: text("map", "which column fills which field: full_name=Name,company_domain=Website; default: equal names"),
    maxTotal: usdFlag("max-total", "the most that the whole batch may cost in USD, such as 25.00"),
    output: Flag.String("output").pipe(
      Flag.withAlias("o"),
      Flag.withDescription("the file for the results; default: stdout"),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    again: boolean("again", "run the same file once more, and pay for it once more")
  },
  Effect.fnUntraced(function* ({ file, capability, map, maxTotal, output, again }) {
    const { send } = yield* Client
    const screen = yield* Screen
    const csv = (yield* readText(file)).replace(/^\ufeff/, "")
    const { rows: all, brokenLine } = readCsv(csv)
    const [header, ...rows] = all
    if (brokenLine !== null)
      return yield* fail("usage", `${file} has a quote that is not closed, in line ${brokenLine}.`)
    if (header === undefined || rows.length === 0) return yield* fail("usage", `${file} needs a header line and a row.`)
    const max_total = encodeUsd(maxTotal)
    const query = new URLSearchParams({ capability, max_total, ...(map === null ? {} : { map }) })
    const key = keyOf([csv, capability, map ?? "", max_total, again ? crypto.randomUUID() : ""])
    const answer = yield* send("POST", `/v1/batches?${query}`, {
      text: csv,
      type: "text/csv",
      headers: { "idempotency-key": key },
      seconds: uploadSeconds
    })
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    const started = decoded(Batch, answer.text) ?? (yield* unreadable)
    const joined = answer.headers["idempotent-replay"] === "true"
    yield* screen.say(
      joined
        ? `This file was sent before: joining ${started.id}. To run and pay it once more, add --again.`
        : `Started ${started.id}: ${started.rows.total} rows for at most $${usd(maxTotal)}.`
    )
    const ended = yield* Effect.onInterrupt(followed(started), () =>
      screen.warn(
        `\nStopped watching; ${started.id} continues. Run the same command to see its results, or stop it with: rungate api POST /v1/batches/${started.id}/cancel`
      )
    )
    const results = yield* send("GET", `/v1/batches/${ended.id}/results`, {
      headers: { accept: "application/x-ndjson" },
      seconds: uploadSeconds
    })
    const refused = yield* failureOf(results)
    if (refused !== null) return yield* refused
    const { batchCsv, resultsOf } = yield* Effect.promise(() => import("./BatchFile.ts"))
    const found = resultsOf(results.text)
    const outcome = batchCsv(header, rows, found)
    yield* output === null || output === "-" ? screen.out(outcome) : written(output, outcome)
    yield* screen.say(summary(ended))
    const blocked = [...found.values()].find(({ status }) => status === "blocked")?.error
    if (blocked !== undefined)
      return yield* fail(
        exitOfError(blocked.code),
        `Not all rows were run. The first that was blocked: ${blocked.message}`
      )
  })
).pipe(
  Command.withDescription("Run a capability for each line of a CSV"),
  Command.withExamples([
    {
      command:
        "rungate batch people.csv --capability email.find --map full_name=Name,company_domain=Website --max-total 25.00 -o out.csv",
      description: "Start it, or join it if it was started before"
    }
  ])
)
