/**
 * `rungate batch retry bat_…`: runs the blocked rows of a batch again, in the same batch. Rows that ran are not run again.
 *
 * It starts no other batch, so it can be repeated after Ctrl-C or a crash.
 */
import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Usd } from "../../../schema/money/Money.ts"
import { Batch } from "../../api/Batches.ts"
import { Client } from "../answers/Client.ts"
import { decoded, failureOf } from "../answers/show.ts"
import { fail } from "../terminal/exits.ts"
import { usd } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"
import { followed, type Lines, linesOf, type Progress, unreadableBatch, untilResults } from "./BatchProgress.ts"

const encodeUsd = Schema.encodeSync(Usd)

const batchOf = Effect.fnUntraced(function* (method: "GET" | "POST", path: string, body?: object) {
  const { send } = yield* Client
  const answer = yield* send(method, path, body === undefined ? {} : { body })
  const failure = yield* failureOf(answer)
  if (failure !== null) return yield* failure
  return decoded(Batch, answer.text) ?? (yield* unreadableBatch)
})

/** The file's lines. Without a file, the numbers of the rows. */
const linesFor = Effect.fnUntraced(function* ({ id, rows: { total } }: Progress, file: string | null) {
  if (file === null) {
    const lines: Lines = { header: ["row"], rows: Array.from({ length: total }, (_, index) => [String(index + 1)]) }
    return lines
  }
  const lines = yield* linesOf(file)
  if (lines.rows.length === total) return lines
  return yield* fail(
    "usage",
    `${file} has ${lines.rows.length} rows, and ${id} has ${total}. Give the file that the batch was made of. Nothing was run.`
  )
})

export const batchRetry = Command.make(
  "retry",
  {
    batch_id: Argument.String("batch_id").pipe(Argument.withDescription("the batch, bat_…")),
    file: Argument.String("file").pipe(
      Argument.withDescription("the CSV of the batch, to write the results beside its lines"),
      Argument.optional,
      Argument.map(Option.getOrNull)
    ),
    maxTotal: usd(
      "max-total",
      "the new limit of the whole batch in USD, with what it has charged; default: as before"
    ).pipe(Flag.optional, Flag.map(Option.getOrNull)),
    output: Flag.String("output").pipe(
      Flag.withAlias("o"),
      Flag.withDescription("the file for the results; default: stdout"),
      Flag.optional,
      Flag.map(Option.getOrNull)
    )
  },
  Effect.fnUntraced(function* ({ batch_id, file, maxTotal, output }) {
    const screen = yield* Screen
    const path = `/v1/batches/${encodeURIComponent(batch_id)}`
    const batch = yield* batchOf("GET", path)
    const lines = yield* linesFor(batch, file)
    const ended = yield* followed(batch)
    const body = maxTotal === null ? {} : { max_total: encodeUsd(maxTotal) }
    const retried = ended.rows.blocked === 0 ? ended : yield* batchOf("POST", `${path}/retry`, body)
    yield* screen.say(
      ended.rows.blocked === 0
        ? `No row of ${ended.id} is blocked.`
        : `Retrying ${retried.rows.open} of ${ended.rows.blocked} blocked rows of ${ended.id}.`
    )
    yield* untilResults(retried, lines, output)
  })
).pipe(
  Command.withDescription("Run the blocked rows of a batch again; nothing is paid twice"),
  Command.withExamples([
    { command: "rungate batch retry bat_… people.csv -o out.csv", description: "After a top-up" },
    { command: "rungate batch retry bat_… --max-total 40.00", description: "With a higher limit for the whole batch" }
  ])
)
