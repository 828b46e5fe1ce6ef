/** `rungate runs`: list, read, wait for, cancel, dispute and resume runs. */
import { Clock, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { statuses } from "../../../schema/runs/Run.ts"
import { Client } from "../answers/Client.ts"
import { resume } from "./resume.ts"
import { conclude, waitFor } from "./execution.ts"
import { Screen } from "../terminal/Screen.ts"
import { failureOf, formatOf, json, jsonl, printed, show, showList } from "../answers/show.ts"
import { showCsv } from "../answers/csv.ts"
import { showRun, waitFlag } from "./confirmAndRun.ts"
import { boolean, metadata, text } from "../terminal/flags.ts"
import { dispute } from "../warranty/dispute.ts"

const views = Effect.promise(() => import("./RunView.ts"))
const run_id = Argument.String("run_id").pipe(Argument.withDescription("the run, as runs list shows it"))
const pathOf = (id: string) => `/v1/runs/${encodeURIComponent(id)}`

/** One run in full. Reading a failed run is not a failure of this command. */
const drawn = (text: string) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const { runLines } = yield* views
    return runLines(text, screen, false)
  })

const list = Command.make(
  "list",
  {
    limit: Flag.Int("limit").pipe(
      Flag.withDescription("runs per page, 1 to 200; default: 50, with --csv up to 10,000"),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    status: Flag.Literals("status", statuses).pipe(
      Flag.withDescription("only runs of this status"),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    capability: text("capability", "only runs of this capability"),
    provider: text("provider", "only runs that this provider served"),
    endpoint: text("endpoint", "only runs of this raw endpoint"),
    key: text("key", "only runs of this API key, by its id"),
    from: text("from", "only runs from this date or time on, such as 2026-11-01"),
    to: text("to", "only runs before this time; a date includes its day"),
    metadata: metadata("only runs with this label, as name=value; may be repeated"),
    cursor: text("cursor", "next_cursor of the previous page"),
    csv: boolean("csv", "print CSV with a header line"),
    json,
    jsonl
  },
  Effect.fnUntraced(function* ({ csv, json, jsonl, limit, key, metadata, ...filters }) {
    const { send } = yield* Client
    const screen = yield* Screen
    const query = new URLSearchParams(metadata.map(([name, value]) => [`metadata.${name}`, value]))
    const named = { ...filters, key_id: key, limit: limit === null ? (csv ? null : "50") : String(limit) }
    for (const [name, value] of Object.entries(named)) if (value !== null) query.set(name, value)
    if (csv) return yield* showCsv(`/v1/runs?${query}`, { json, jsonl })
    const answer = yield* send("GET", `/v1/runs?${query}`)
    yield* showList(answer, { json, jsonl }, (body) =>
      Effect.gen(function* () {
        const { listLines } = yield* views
        return listLines(body, screen, yield* Clock.currentTimeMillis)
      })
    )
  })
).pipe(Command.withDescription("List runs, newest first"), Command.withAlias("ls"))

const get = Command.make(
  "get",
  { run_id, json },
  Effect.fnUntraced(function* ({ run_id, json }) {
    const { send } = yield* Client
    yield* show(yield* send("GET", pathOf(run_id)), { json }, drawn)
  })
).pipe(Command.withDescription("Show a run with its attempts and its result"))

const wait = Command.make(
  "wait",
  {
    run_id,
    wait: waitFlag.pipe(Flag.optional, Flag.map(Option.getOrNull)),
    json
  },
  Effect.fnUntraced(function* ({ run_id, wait, json }) {
    const screen = yield* Screen
    const answer = yield* waitFor(run_id, wait)
    yield* showRun(answer.text, formatOf(screen, { json }) === "json", false)
    yield* conclude(answer)
  })
).pipe(Command.withDescription("Wait for a run and print its result; the exit code is its outcome"))

const cancel = Command.make(
  "cancel",
  { run_id, json },
  Effect.fnUntraced(function* ({ run_id, json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    const answer = yield* send("POST", `${pathOf(run_id)}/cancel`)
    const failure = yield* failureOf(answer)
    if (formatOf(screen, { json }) === "json") yield* screen.out(printed(answer.text))
    if (failure !== null) return yield* failure
    yield* screen.say(`Cancelled ${run_id}. Its hold is released.`)
  })
).pipe(Command.withDescription("Cancel a run that has not started, and release its hold"))

export const runs = Command.make("runs").pipe(
  Command.withDescription("List, read, wait for, cancel, dispute and resume runs"),
  Command.withSubcommands([list, get, wait, cancel, dispute, resume])
)
