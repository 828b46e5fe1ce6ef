/**
 * `rungate runs resume`: joins the runs that were broken off, by a crash, a lost connection or Ctrl-C.
 *
 * They are sent again under the same Idempotency-Key: one that the service has is joined, and paid once.
 */
import { Clock, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import { confirmed } from "../terminal/confirm.ts"
import { conclude, deliver } from "./execution.ts"
import { fail } from "../terminal/exits.ts"
import { type Entry, Journal } from "../state/Journal.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatOf, json } from "../answers/show.ts"
import { showRun, waitFlag } from "./confirmAndRun.ts"
import { agoOf } from "../terminal/values.ts"

const chosen = (entries: ReadonlyArray<Entry>, run_id: string | null) =>
  run_id === null ? entries : entries.filter((entry) => entry.run_id === run_id || entry.idempotency_key === run_id)

/** Whether the service ever got it nobody knows, so it may be that it starts only now. */
const mayStart = Effect.fnUntraced(function* (entry: Entry, yes: boolean, now: number) {
  const screen = yield* Screen
  if (entry.run_id !== null || yes || !screen.askable) return true
  return yield* confirmed(
    `${entry.title}, ${agoOf(entry.sent_at, now)} ago, may not have reached the service; it would run now. Run it?`,
    "Nothing was run."
  )
})

export const resume = Command.make(
  "resume",
  {
    run_id: Argument.String("run_id").pipe(
      Argument.withDescription("only this run, or this Idempotency-Key; all of them when left out"),
      Argument.optional,
      Argument.map(Option.getOrNull)
    ),
    wait: waitFlag.pipe(Flag.optional, Flag.map(Option.getOrNull)),
    yes: Flag.Boolean("yes").pipe(Flag.withAlias("y"), Flag.withDescription("don't ask"), Flag.withDefault(false)),
    forget: Flag.Boolean("forget").pipe(
      Flag.withDescription("don't join them, forget them; what runs goes on"),
      Flag.withDefault(false)
    ),
    json
  },
  Effect.fnUntraced(function* ({ run_id, wait, yes, forget, json }) {
    const screen = yield* Screen
    const journal = yield* Journal
    const entries = chosen(yield* journal.open_runs, run_id)
    const asJson = formatOf(screen, { json }) === "json"
    if (entries.length === 0) {
      if (run_id !== null) return yield* fail("not_found", `There is no broken-off run "${run_id}".`)
      return yield* screen.say("No run was broken off.")
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
    // With several, each was said where it happened.
    if (first !== null)
      return yield* entries.length > 1 ? new CommandFailed({ message: "", exit_code: first.exit_code }) : first
  })
).pipe(Command.withDescription("Join the runs that were broken off; with --forget, forget them"))
