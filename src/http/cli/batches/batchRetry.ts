/**
 * `rungate batch retry bat_…`: runs the blocked rows of a batch again, in the same batch. Rows that ran are not run again.
 *
 * It starts no other batch, so it can be repeated after Ctrl-C or a crash.
 */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { usd as usdText } from "../../../schema/money/Money.ts"
import { Batch } from "../../../schema/nouns/Batch.ts"
import { BatchesApi } from "../../api/Batches.ts"
import { ask } from "../answers/operation.ts"
import { bad } from "../terminal/exits.ts"
import { argument, optional, optionalArgument, text, usd, withExamples } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"
import type { Sheet } from "../../client/JoinedCsv.ts"
import { followed, linesOf, type Progress, untilResults } from "./BatchProgress.ts"

const { get, retry } = BatchesApi.endpoints

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

export const batchRetry = Command.make(
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
    const batch = yield* ask(get, { params }, Batch)
    const lines = yield* linesFor(batch, file)
    const ended = yield* followed(batch)
    const payload = maxTotal === null ? {} : { max_total: usdText(maxTotal) }
    const retried = ended.rows.blocked === 0 ? ended : yield* ask(retry, { params, payload }, Batch)
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
