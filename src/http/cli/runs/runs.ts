/** `rungate runs`: list, read, wait for, cancel, dispute and resume runs. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { ListedRun } from "../../../schema/nouns/Run.ts"
import { RunsApi } from "../../api/Runs.ts"
import { listed, said } from "../answers/draw.ts"
import { row, rowWith } from "../answers/row.ts"
import { formatOf, json, show } from "../answers/show.ts"
import { argument, metadata, optional, text } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"
import { showRun, waitFlag } from "./confirmAndRun.ts"
import { dispute } from "./dispute.ts"
import { conclude, waitFor } from "./execution.ts"
import { resume } from "./resume.ts"
import { runLines, targetOf } from "./RunView.ts"

const { endpoints } = RunsApi
const run_id = "the run, as runs list shows it"

const list = rowWith(
  endpoints.list,
  { metadata: metadata("only runs with this label, as name=value; may be repeated") },
  ({ metadata }) => Effect.succeed(Object.fromEntries(metadata.map(([name, value]) => [`metadata.${name}`, value]))),
  {
    about: "List runs, newest first",
    csv: true,
    fields: {
      status: "only runs of this status",
      capability: "only runs of this capability",
      provider: "only runs that this provider served",
      endpoint: "only runs of this raw endpoint",
      key_id: text("key", "only runs of this API key, by its id"),
      from: "only runs from this date or time on, such as 2026-11-01",
      to: "only runs before this time; a date includes its day"
    },
    show: listed(ListedRun, "No runs.", { capability: targetOf })
  }
)

/** One run in full. Reading a failed run is not a failure of this command. */
const get = row(endpoints.get, {
  about: "Show a run with its attempts and its result",
  fields: { run_id, wait: false },
  show: (answer, shown) => show(answer, shown, (text) => runLines(text, shown.screen, false))
})

const cancel = row(endpoints.cancel, {
  fields: { run_id },
  show: said("Cancelled {run_id}. Its hold is released.")
})

const wait = Command.make(
  "wait",
  {
    run_id: argument("run_id", run_id),
    wait: optional(waitFlag),
    json
  },
  Effect.fnUntraced(function* ({ run_id, wait, json }) {
    const screen = yield* Screen
    const answer = yield* waitFor(run_id, wait)
    yield* showRun(answer.text, formatOf(screen, { json }) === "json", false)
    yield* conclude(answer)
  })
).pipe(Command.withDescription("Wait for a run and print its result; the exit code is its outcome"))

export const runs = Command.make("runs").pipe(
  Command.withDescription("List, read, wait for, cancel, dispute and resume runs"),
  Command.withSubcommands([list, get, wait, cancel, dispute, resume])
)
