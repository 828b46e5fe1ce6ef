/**
 * `rungate runs resume`: joins runs that were interrupted by a crash, a lost connection or Ctrl-C.
 *
 * It sends them again with the same Idempotency-Key. If the service already has the run, it is joined and paid once.
 */
import { Clock, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { confirmed } from "../terminal/consent.ts"
import { conclude, deliver } from "./execution.ts"
import { CommandFailed, fail } from "../terminal/exits.ts"
import { type Entry, Journal } from "../state/Journal.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatOf, json } from "../answers/show.ts"
import { showRun, waitFlag } from "./confirmAndRun.ts"
import { agoOf } from "../terminal/values.ts"
import { boolean, optional, optionalArgument, yes } from "../terminal/flags.ts"

const chosen = (entries: ReadonlyArray<Entry>, run_id: string | null) =>
  run_id === null ? entries : entries.filter((entry) => entry.run_id === run_id || entry.idempotency_key === run_id)

/** Asks before an entry without a run id is sent, because it may start only now. */
const mayStart = Effect.fnUntraced(function* (entry: Entry, yes: boolean, now: number) {
  const screen = yield* Screen
  if (entry.run_id !== null || yes || !screen.askable) return true
  return yield* confirmed(
    `${entry.title}, sent ${agoOf(entry.sent_at, now)} ago, may not have reached the service, so it may start now. Run it?`,
    "Cancelled. Nothing was run."
  )
})

export const resume = Command.make(
  "resume",
  {
    run_id: optionalArgument(Argument.String("run_id"), "run id or Idempotency-Key; default: all interrupted runs"),
    wait: optional(waitFlag),
    yes,
    forget: boolean("forget", "delete the entries instead of joining; a started run continues"),
    json
  },
  Effect.fnUntraced(function* ({ run_id, wait, yes, forget, json }) {
    const screen = yield* Screen
    const journal = yield* Journal
    const entries = chosen(yield* journal.open_runs, run_id)
    const asJson = formatOf(screen, { json }) === "json"
    if (entries.length === 0) {
      if (run_id !== null)
        return yield* fail(
          "not_found",
          `There is no interrupted run "${run_id}". Show a run with: rungate runs get ${run_id}`
        )
      return yield* screen.say("There are no interrupted runs.")
    }
    const now = yield* Clock.currentTimeMillis
    let first: CommandFailed | null = null
    for (const entry of entries) {
      yield* screen.say(
        `${entry.title}, ${agoOf(entry.sent_at, now)} ago${entry.run_id === null ? "" : ` (${entry.run_id})`}`
      )
      if (forget) {
        yield* journal.close(entry)
        continue
      }
      if (!(yield* mayStart(entry, yes, now))) continue
      const ended = yield* journal.adopt(entry).pipe(
        Effect.flatMap((adopted) => deliver(adopted, true, { seconds: wait, async: false })),
        Effect.tap((answer) => showRun(answer.text, asJson, false)),
        Effect.flatMap(conclude),
        Effect.as(null),
        Effect.catch((error) => Effect.succeed(error))
      )
      if (ended !== null && entries.length > 1) yield* screen.say(`  ${ended.message}`)
      first ??= ended
    }
    // With several runs, each error was printed with its run.
    if (first !== null)
      return yield* entries.length > 1 ? new CommandFailed({ message: "", exit_code: first.exit_code }) : first
  })
).pipe(Command.withDescription("Join interrupted runs, or delete their entries with --forget"))
