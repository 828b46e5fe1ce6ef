/**
 * `rungate history`: shows past runs about a person, company or other subject, to avoid buying or contacting twice.
 *
 * One subject is shown in full; several subjects, or a file of them, as one row each. Free.
 */
import { Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { kinds, type SubjectKind } from "../../../schema/subjects/Form.ts"
import { memberText } from "../../../schema/json/JsonText.ts"
import { History, HistoryApi } from "../../api/History.ts"
import type { Answer } from "../answers/Client.ts"
import { drawn, drawnList } from "../answers/draw.ts"
import { call } from "../answers/operation.ts"
import { shownAs } from "../answers/row.ts"
import { erase } from "./erase.ts"
import { Screen } from "../terminal/Screen.ts"
import { decoded, json, jsonl, pageOf } from "../answers/show.ts"
import { batchLines, HistoryBatch, historyLines } from "./HistoryView.ts"
import { subjectsOf } from "./subjects.ts"
import { choice, text } from "../terminal/flags.ts"

const { endpoints } = HistoryApi
/** The largest batch of the API. */
const batchMost = 200

const countIn = (answer: Answer, name: string) => decoded(Schema.Int, memberText(answer.text, name) ?? "") ?? 0

/** Merges batches: concatenates items and adds counts. A single batch stays unchanged. */
const merged = (answers: ReadonlyArray<Answer>, last: Answer): Answer => {
  if (answers.length === 1) return last
  const items = answers.flatMap((answer) => pageOf(answer.text).items)
  const sums = ["seen", "unseen", "contacted"].map(
    (name) => `"${name}":${answers.reduce((sum, answer) => sum + countIn(answer, name), 0)}`
  )
  return { ...last, text: `{"items":[${items.join(",")}],${sums.join(",")}}` }
}

const askBatches = Effect.fnUntraced(function* (subjects: ReadonlyArray<string>, kind: SubjectKind | null) {
  const screen = yield* Screen
  const answers: Array<Answer> = []
  for (let at = 0; ; at += batchMost) {
    const part = subjects.slice(at, at + batchMost)
    if (subjects.length > batchMost) yield* screen.status(`${at} of ${subjects.length}`)
    const answer = yield* call(endpoints.batch, { payload: { subjects: part, kind } })
    answers.push(answer)
    if (answer.status < 400 && at + batchMost < subjects.length) continue
    yield* screen.status("")
    return answer.status >= 400 ? answer : merged(answers, answer)
  }
})

export const history = Command.make(
  "history",
  {
    subjects: Argument.String("subject").pipe(
      Argument.withDescription("e-mail address, domain, profile, URL, handle, phone number or words"),
      Argument.variadic()
    ),
    kind: choice("kind", kinds, "kind of the subjects; detected by default"),
    file: text("file", "a file with one subject per line, or - for stdin").pipe(Flag.withAlias("f")),
    csv: text("csv", "a CSV file with a header line, or - for stdin"),
    column: text("column", "column of the CSV file with the subjects"),
    limit: Flag.Int("limit").pipe(Flag.withDescription("runs to show for one subject, 1 to 200"), Flag.withDefault(50)),
    json,
    jsonl
  },
  Effect.fnUntraced(function* ({ kind, limit, json, jsonl, ...named }) {
    const { all, single } = yield* subjectsOf(named)
    const [only = ""] = all
    if (single && !jsonl) {
      const query = { q: only, limit: String(limit), ...(kind === null ? {} : { kind }) }
      return yield* shownAs(drawn(History, historyLines), yield* call(endpoints.get, { query }), { json })
    }
    yield* shownAs(drawnList(HistoryBatch, batchLines), yield* askBatches(all, kind), { json, jsonl })
  })
).pipe(
  Command.withDescription("Show past runs about subjects: seen, contacted, results to reuse"),
  Command.withExamples([
    { command: "rungate history ada@example.com", description: "One subject in full" },
    { command: "rungate history --csv leads.csv --column email", description: "A list, one row each" }
  ]),
  Command.withSubcommands([erase])
)
