/**
 * Executes one run: records it in the journal, sends it once, and waits for its end.
 *
 * The first request asks for an answer within a second, so that the run id is known early. After that the run is only read.
 * Ctrl-C leaves it running and prints the command that waits for it.
 */
import { Clock, Effect, Fiber, Ref } from "effect"
import { isFinal } from "../../../schema/runs/Run.ts"
import { type KnownRun, runIn } from "../../api/shapes/KnownRun.ts"
import { RunsApi } from "../../api/Runs.ts"
import type { Answer } from "../answers/Client.ts"
import { call, send } from "../answers/operation.ts"
import { CommandFailed, type Exit, exitOfError, exits, fail } from "../terminal/exits.ts"
import { type Entry, Journal, joinMinutes } from "../state/Journal.ts"
import { sentenceFor } from "../answers/problems.ts"
import { Screen } from "../terminal/Screen.ts"
import { cliHints } from "../answers/commands.ts"
import { failureOf } from "../answers/show.ts"
import { widthOf } from "../terminal/text.ts"

const { endpoints } = RunsApi
/** wait_seconds of the first request. Its response contains the run id. */
const firstSeconds = 1
/** wait_seconds of later requests; short enough for proxies to keep the connection. */
const stretchSeconds = 25
/** The shortest interval between two requests. */
const breathMillis = 250
/** Response timeout beyond wait_seconds. */
const slackSeconds = 30

export const waitCommand = (run_id: string) => `rungate runs wait ${run_id}`

/** The failure of an unsuccessful or unfinished run; null for a successful one. */
export const outcomeOf = (run: KnownRun): CommandFailed | null => {
  if (!isFinal(run.status))
    return fail(
      "pending",
      `${run.approval?.tell ?? "The run is still executing."} Wait for it with: ${waitCommand(run.run_id)}`
    )
  if (run.status === "succeeded") return null
  const exit: Exit =
    run.status === "no_match"
      ? "no_match"
      : run.status === "timed_out"
        ? "timed_out"
        : exitOfError(run.error?.code ?? "")
  return fail(exit, run.error === undefined ? `The run is ${run.status}.` : sentenceFor(run.error))
}

/** Shows a status line with elapsed seconds and the run id. */
const ticking = <A, E, R>(run_id: Ref.Ref<string | null>, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    if (!screen.animated) return yield* work
    const began = yield* Clock.currentTimeMillis
    const tick = Effect.gen(function* () {
      yield* Effect.sleep("1 second")
      const seconds = Math.round(((yield* Clock.currentTimeMillis) - began) / 1000)
      const id = yield* Ref.get(run_id)
      const line = `${seconds} s  ${id ?? "waiting for the service"}`
      const more = id === null ? "" : "  (Ctrl-C leaves it running)"
      yield* screen.status(widthOf(line + more) < screen.width ? line + more : line)
    }).pipe(Effect.forever)
    const ticker = yield* Effect.forkChild(tick)
    return yield* Effect.ensuring(work, Effect.andThen(Fiber.interrupt(ticker), screen.status("")))
  })

/** Says how to come back to a run that this command leaves, because it was interrupted or lost the connection. */
const leaving = Effect.fnUntraced(function* (run_id: Ref.Ref<string | null>, interrupted: boolean) {
  const screen = yield* Screen
  const id = yield* Ref.get(run_id)
  const why = interrupted ? `Interrupted${id === null ? " before the service answered" : ""}. ` : ""
  yield* screen.warn(
    id === null
      ? `${why}The run may have started. Join it with: rungate runs resume (or repeat the same command within ${joinMinutes} minutes)`
      : `${why}The run ${id} continues. Wait for it with: ${waitCommand(id)}`
  )
})

/** Reads a run until it is final or `seconds` have passed; null waits without a limit. */
const reading = Effect.fnUntraced(function* (run_id: string, seconds: number | null) {
  const end = seconds === null ? Number.POSITIVE_INFINITY : (yield* Clock.currentTimeMillis) + seconds * 1000
  for (;;) {
    const sentAt = yield* Clock.currentTimeMillis
    const wait = Math.min(stretchSeconds, Math.max(0, Math.ceil((end - sentAt) / 1000)))
    const how = { seconds: wait + slackSeconds, patient: true }
    const answer = yield* call(endpoints.get, { params: { run_id }, query: { wait: String(wait) } }, how)
    const run = runIn(answer.text)
    const now = yield* Clock.currentTimeMillis
    if (run === null || isFinal(run.status) || now >= end) return answer
    // A stopping service or a proxy may answer early.
    if (now - sentAt < breathMillis) yield* Effect.sleep(`${breathMillis} millis`)
  }
})

/** Waits for a run by its id. */
export const waitFor = Effect.fnUntraced(function* (run_id: string, seconds: number | null) {
  const id = yield* Ref.make<string | null>(run_id)
  const answer = yield* ticking(id, reading(run_id, seconds)).pipe(Effect.onInterrupt(() => leaving(id, true)))
  const run = runIn(answer.text)
  if (run !== null && isFinal(run.status)) yield* Effect.flatMap(Journal, (journal) => journal.closeRun(run_id))
  return answer
})

export interface Waiting {
  /** Seconds; null waits without a limit. */
  readonly seconds: number | null
  /** Return as soon as the run id is known. The caller closes the entry when somebody else knows it too. */
  readonly async: boolean
  /** Called once when the run id is known and the run is not final. */
  readonly onNamed?: (run_id: string) => Effect.Effect<void>
}

const withWait = (body: string, seconds: number) => `${body.slice(0, -1)},"wait_seconds":${seconds}}`

/**
 * Sends a journal entry and waits. Returns the last response of the API.
 *
 * An entry that was sent `before` may already be a run, so a refusal or a lost connection does not delete it.
 */
export const deliver = Effect.fnUntraced(function* (
  entry: Entry,
  before: boolean,
  { seconds, async, onNamed }: Waiting
) {
  const journal = yield* Journal
  const id = yield* Ref.make<string | null>(entry.run_id)
  const began = yield* Clock.currentTimeMillis
  const first = async ? 0 : seconds === null ? firstSeconds : Math.min(firstSeconds, seconds)

  const work = Effect.gen(function* () {
    const answer = yield* send(
      endpoints.run,
      {},
      {
        text: withWait(entry.body, first),
        headers: { "idempotency-key": entry.idempotency_key },
        seconds: first + slackSeconds
      }
    ).pipe(
      // Connection refused: nothing was sent.
      Effect.tapError((error) => (error.exit_code === exits.failed && !before ? journal.close(entry) : Effect.void))
    )
    const run = runIn(answer.text)
    if (run === null) {
      // A status below 500 means that no run was created. After a 5xx that is unknown.
      if (answer.status < 500 && !before) yield* journal.close(entry)
      return answer
    }
    yield* Ref.set(id, run.run_id)
    if (isFinal(run.status)) {
      yield* journal.close(entry)
      return answer
    }
    const named = yield* journal.named(entry, run.run_id)
    if (onNamed !== undefined) yield* onNamed(run.run_id)
    // A person may take days to answer.
    if (async || run.approval !== undefined) return answer
    const left = seconds === null ? null : seconds - ((yield* Clock.currentTimeMillis) - began) / 1000
    if (left !== null && left <= 0) return answer
    const last = yield* reading(run.run_id, left)
    const ended = runIn(last.text)
    if (ended !== null && isFinal(ended.status)) yield* journal.close(named)
    return last
  })
  return yield* ticking(id, work).pipe(
    Effect.onInterrupt(() => leaving(id, true)),
    Effect.tapError((error) => (error.exit_code === exits.pending ? leaving(id, false) : Effect.void))
  )
})

/** The unfinished run of the same command, which is joined; null when there is none or with --again. */
export const leftBy = Effect.fnUntraced(function* (typed: string, again: boolean) {
  const journal = yield* Journal
  const screen = yield* Screen
  const left = again ? null : yield* journal.left(typed)
  if (left === null) return null
  const seconds = Math.round(((yield* Clock.currentTimeMillis) - left.sent_at) / 1000)
  yield* screen.warn(
    `Joining the run that the same command started ${seconds} s ago${left.run_id === null ? "" : ` (${left.run_id})`}. It is paid once. Start a new run with --again.`
  )
  return yield* journal.adopt(left)
})

/** Ends the command with the outcome of the run. At a terminal the error includes the hints of the API. */
export const conclude = Effect.fnUntraced(function* (answer: Answer) {
  const run = runIn(answer.text)
  const failure = run === null ? yield* failureOf(answer) : outcomeOf(run)
  if (failure === null) return
  const { person, quiet } = yield* Screen
  const hints = person && !quiet ? cliHints({ hints: run?.hints ?? [] }) : []
  const { message, exit_code } = failure
  return yield* new CommandFailed({ message: [message, ...hints.map((hint) => `  ${hint}`)].join("\n"), exit_code })
})
