/**
 * Keeps the event logs up to date: appends what turns and attempts of this process changed, and what other processes left pending.
 *
 * A call of `touch` only marks the organization. A lost mark delays events and loses none, because the log is derived from stored state:
 * every process also looks for pending ledger entries and inbox rows. Each batch is announced with the organization's id.
 */
import { Context, Effect, Layer, Queue } from "effect"
import { logFailure } from "../../layers/postgres/Batch.ts"
import { DueWork, repeatedly } from "../../layers/postgres/DueWork.ts"
import { EventLog } from "../../layers/events/EventLog.ts"
import { EventWriter } from "../../layers/events/EventWriter.ts"
import { Signals } from "../../layers/queues/Signals.ts"
import { changedOrg, listenedOrg } from "./EventSignals.ts"

/** Changes within this time share a batch. It is the delay of an event under load. */
const gatherMillis = 40
/** How often all organizations are looked at, for those whose process died before it wrote their events. */
const sweepEvery = "15 seconds"
const parallel = 4
/** Organizations that are remembered between two looks. The look at all organizations finds the rest. */
const quietMax = 10_000
const forgetEvery = "1 hour"

export class EventSequencer extends Context.Service<
  EventSequencer,
  {
    /** Marks an organization whose wallet changed, or a run of it whose state changed. Returns at once. */
    readonly touch: (org_id: string, run_id: string | null) => void
  }
>()("rungate/actors/events/EventSequencer") {
  static readonly layer = Layer.effect(
    EventSequencer,
    Effect.gen(function* () {
      const log = yield* EventLog
      const writer = yield* EventWriter
      const signals = yield* Signals
      const wakeUps = yield* Queue.sliding<void>(1)
      /** Organizations whose log somebody listens to, as far as this process knows. */
      let listened = new Set<string>()
      /** Marked organizations with listeners, and their runs. */
      let touched = new Map<string, Set<string>>()
      /** Marked organizations without listeners: only their alerts are logged, which may wait for the next look. */
      let quiet = new Set<string>()

      const mark = (org_id: string, run_id: string | null) => {
        const runs = touched.get(org_id) ?? new Set()
        if (run_id !== null) runs.add(run_id)
        touched.set(org_id, runs)
        Queue.offerUnsafe(wakeUps, undefined)
      }
      const touch = (org_id: string, run_id: string | null) => {
        if (listened.has(org_id)) mark(org_id, run_id)
        else if (quiet.size < quietMax) quiet.add(org_id)
      }

      /** Appends all that is pending in one log. */
      const bring = (org_id: string, runs: ReadonlySet<string>) =>
        Effect.gen(function* () {
          let more = true
          let news = [...runs]
          while (more) {
            const step = yield* writer.step(org_id, news)
            if (step.appended) yield* signals.publish([org_id])
            more = step.more
            news = []
          }
        }).pipe(
          Effect.catchCause((cause) =>
            Effect.andThen(
              logFailure(`Appending to the event log of ${org_id} failed; the next look retries`)(cause),
              Effect.sync(() => {
                for (const run_id of runs) touched.set(org_id, (touched.get(org_id) ?? new Set()).add(run_id))
              })
            )
          )
        )
      const bringAll = (orgs: Iterable<readonly [string, ReadonlySet<string>]>) =>
        Effect.forEach(orgs, ([org_id, runs]) => bring(org_id, runs), { concurrency: parallel, discard: true })

      const flush = Effect.suspend(() => {
        const batch = touched
        touched = new Map()
        return bringAll(batch)
      })
      const flushing = Effect.gen(function* () {
        yield* Queue.take(wakeUps)
        yield* Effect.sleep(`${gatherMillis} millis`)
        yield* flush
      })

      const bringDue = (among: ReadonlyArray<string> | null) =>
        Effect.flatMap(writer.due(among), (due) => bringAll(due.map((org_id) => [org_id, new Set<string>()] as const)))
      const look = Effect.gen(function* () {
        listened = new Set(yield* writer.listened)
        const marked = [...quiet, ...listened]
        quiet = new Set()
        if (marked.length > 0) yield* bringDue(marked)
      })
      const lookDue = () => (quiet.size > 0 ? "true" : EventWriter.due(listened.size))

      yield* Effect.acquireRelease(
        Effect.sync(() =>
          signals.listen((ids) => {
            for (const id of ids) {
              const org_id = listenedOrg(id)
              if (org_id !== null) listened.add(org_id)
              const marked = org_id ?? changedOrg(id)
              if (marked !== null) mark(marked, null)
            }
          })
        ),
        (stop) => Effect.sync(stop)
      )
      yield* Effect.forkScoped(Effect.forever(flushing))
      yield* (yield* DueWork).whenDue("event logs", lookDue, look)
      yield* repeatedly("event logs of all organizations", sweepEvery, bringDue(null))
      const forgetting = Effect.repeat(log.forget, { until: (deleted) => deleted === 0 })
      yield* repeatedly("deletion of old events", forgetEvery, forgetting)

      return EventSequencer.of({ touch })
    })
  )
}
