/**
 * One run from the order to its end: written down, sent, waited for, and never sent twice.
 *
 * The service is asked to answer within a second, so that the run's id is known early: from then on it is only read. Ctrl-C leaves
 * it running, and says how to come back.
 */
import { Clock, Effect, Fiber, Ref } from "effect"
import { isFinal } from "../../../schema/runs/Run.ts"
import { type KnownRun, runIn } from "../../api/shapes/KnownRun.ts"
import { type Answer, Client } from "../answers/Client.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import { type Exit, exitOfError, exits, fail } from "../terminal/exits.ts"
import { type Entry, Journal, joinMinutes } from "../state/Journal.ts"
import { sentenceFor } from "../answers/problems.ts"
import { Screen } from "../terminal/Screen.ts"
import { cliHints } from "../answers/cliWording.ts"
import { failureOf } from "../answers/show.ts"
import { widthOf } from "../terminal/text.ts"

/** How long the first answer may take to say how a run ends; the id comes with it at the latest. */
const firstSeconds = 1
/** One request waits no longer than this, so that proxies keep the connection. */
const stretchSeconds = 25
/** No more than one question in that time, whatever the service answers. */
const breathMillis = 250
/** What an answer may take beside the waiting. */
const slackSeconds = 30

export const waitCommand = (run_id: string) => `rungate runs wait ${run_id}`

/** A run that is over without success, or is not over; null for one that succeeded. */
export const outcomeOf = (run: KnownRun): CommandFailed | null => {
  if (!isFinal(run.status))
    return fail("pending", `The run is still executing. Wait for it with: ${waitCommand(run.run_id)}`)
  if (run.status === "succeeded") return null
  const exit: Exit =
    run.status === "no_match"
      ? "no_match"
      : run.status === "timed_out"
        ? "timed_out"
        : exitOfError(run.error?.code ?? "")
  return fail(
    exit,
    run.error === undefined ? `The run is ${run.status}.` : sentenceFor(run.error.code, run.error.message)
  )
}

/** Elapsed seconds and the run's id, from the first second on. */
const ticking = <A, E, R>(run_id: Ref.Ref<string | null>, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    if (!screen.animated) return yield* work
    const began = yield* Clock.currentTimeMillis
    const tick = Effect.gen(function* () {
      yield* Effect.sleep("1 second")
      const seconds = Math.round(((yield* Clock.currentTimeMillis) - began) / 1000)
      const known = yield* Ref.get(run_id)
      const line = `${seconds} s  ${known ?? "waiting for the service"}`
      const more = known === null ? "" : "  (Ctrl-C leaves it running)"
      yield* screen.status(widthOf(line + more) < screen.width ? line + more : line)
    }).pipe(Effect.forever)
    const ticker = yield* Effect.forkChild(tick)
    return yield* Effect.ensuring(work, Effect.andThen(Fiber.interrupt(ticker), screen.status("")))
  })

const interrupted = (run_id: Ref.Ref<string | null>) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const known = yield* Ref.get(run_id)
    yield* screen.warn(
      known === null
        ? `Interrupted before the service answered; the run may be under way. Join it with: rungate runs resume (or the same command within ${joinMinutes} minutes)`
        : `Interrupted. The run ${known} goes on; wait for it with: ${waitCommand(known)}`
    )
  })

/** Reads a run until it is final, or so many seconds have passed; null waits for as long as it takes. */
const reading = Effect.fnUntraced(function* (run_id: string, seconds: number | null) {
  const { send } = yield* Client
  const end = seconds === null ? Number.POSITIVE_INFINITY : (yield* Clock.currentTimeMillis) + seconds * 1000
  for (;;) {
    const asked = yield* Clock.currentTimeMillis
    const wait = Math.min(stretchSeconds, Math.max(0, Math.ceil((end - asked) / 1000)))
    const answer = yield* send("GET", `/v1/runs/${encodeURIComponent(run_id)}?wait=${wait}`, {
      seconds: wait + slackSeconds,
      patient: true
    })
    const run = runIn(answer.text)
    const now = yield* Clock.currentTimeMillis
    if (run === null || isFinal(run.status) || now >= end) return answer
    // A service that is about to stop answers before the time is up; so might a proxy.
    if (now - asked < breathMillis) yield* Effect.sleep(`${breathMillis} millis`)
  }
})

/** Waits for a run that has a name. */
export const waitFor = Effect.fnUntraced(function* (run_id: string, seconds: number | null) {
  const known = yield* Ref.make<string | null>(run_id)
  const answer = yield* ticking(known, reading(run_id, seconds)).pipe(Effect.onInterrupt(() => interrupted(known)))
  const run = runIn(answer.text)
  if (run !== null && isFinal(run.status)) yield* Effect.flatMap(Journal, (journal) => journal.closeRun(run_id))
  return answer
})

export interface Waiting {
  /** Seconds; null waits for as long as it takes. */
  readonly seconds: number | null
  /** Come back at once with the run's id. */
  readonly async: boolean
  /** Told the run's id as soon as it is known and the run goes on. */
  readonly onNamed?: (run_id: string) => Effect.Effect<void>
}

const withWait = (body: string, seconds: number) => `${body.slice(0, -1)},"wait_seconds":${seconds}}`

/**
 * Sends what is written down, and waits. The answer is that of the API that said the last word.
 *
 * What was sent `before`, by an earlier command, may be a run already: then no refusal and no silence is a reason to forget it.
 */
export const deliver = Effect.fnUntraced(function* (
  entry: Entry,
  before: boolean,
  { seconds, async, onNamed }: Waiting
) {
  const { send } = yield* Client
  const journal = yield* Journal
  const known = yield* Ref.make<string | null>(entry.run_id)
  const began = yield* Clock.currentTimeMillis
  const first = async ? 0 : seconds === null ? firstSeconds : Math.min(firstSeconds, seconds)

  const work = Effect.gen(function* () {
    const answer = yield* send("POST", "/v1/run", {
      text: withWait(entry.body, first),
      headers: { "idempotency-key": entry.idempotency_key },
      seconds: first + slackSeconds
    }).pipe(
      // Nothing has left when nobody listened.
      Effect.tapError((error) => (error.exit_code === exits.failed && !before ? journal.close(entry) : Effect.void))
    )
    const run = runIn(answer.text)
    if (run === null) {
      // Refused before it became a run. A server's own trouble says nothing about that.
      if (answer.status < 500 && !before) yield* journal.close(entry)
      return answer
    }
    yield* Ref.set(known, run.run_id)
    if (isFinal(run.status)) {
      yield* journal.close(entry)
      return answer
    }
    const named = yield* journal.named(entry, run.run_id)
    if (onNamed !== undefined) yield* onNamed(run.run_id)
    if (async) {
      yield* journal.handOver(named)
      return answer
    }
    const left = seconds === null ? null : seconds - ((yield* Clock.currentTimeMillis) - began) / 1000
    if (left !== null && left <= 0) return answer
    const last = yield* reading(run.run_id, left)
    const ended = runIn(last.text)
    if (ended !== null && isFinal(ended.status)) yield* journal.close(named)
    return last
  })
  return yield* ticking(known, work).pipe(
    Effect.onInterrupt(() => interrupted(known)),
    Effect.tapError((error) => (error.exit_code === exits.pending ? lost(known) : Effect.void))
  )
})

const lost = (run_id: Ref.Ref<string | null>) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const known = yield* Ref.get(run_id)
    yield* screen.warn(
      known === null
        ? `The run may be under way. Join it with: rungate runs resume (or the same command within ${joinMinutes} minutes)`
        : `The run ${known} goes on; wait for it with: ${waitCommand(known)}`
    )
  })

/** The run that this same command started and did not see end; null when there is none, or another one is wanted. */
export const leftBy = Effect.fnUntraced(function* (asked: string, again: boolean) {
  const journal = yield* Journal
  const screen = yield* Screen
  const left = again ? null : yield* journal.left(asked)
  if (left === null) return null
  const seconds = Math.round(((yield* Clock.currentTimeMillis) - left.sent_at) / 1000)
  yield* screen.warn(
    `Joining the run that this command started ${seconds} s ago${left.run_id === null ? "" : ` (${left.run_id})`}; it is paid once. --again starts another one.`
  )
  return yield* journal.adopt(left)
})

/** Says how a run's answer ends the command: nothing for success, else a failure; to a person with what may help. */
export const conclude = Effect.fnUntraced(function* (answer: Answer) {
  const run = runIn(answer.text)
  const failure = run === null ? yield* failureOf(answer) : outcomeOf(run)
  if (failure === null) return
  const { person, quiet } = yield* Screen
  const hints = person && !quiet ? cliHints(run?.hints ?? []) : []
  const { message, exit_code } = failure
  return yield* new CommandFailed({ message: [message, ...hints.map((hint) => `  ${hint}`)].join("\n"), exit_code })
})
