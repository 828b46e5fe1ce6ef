/**
 * Delivers events to webhook endpoints: makes deliveries of new events, sends those that are due, and plans the retries.
 *
 * Every worker does this. Postgres stores what is due and who sends it, so a killed process loses no delivery. Each organization has a
 * share of a process's places (schema/webhooks/Shares.ts), so receivers that are slow or away delay nobody else's webhooks.
 */
import { Effect, Layer, Random } from "effect"
import { EventLog } from "../../layers/events/EventLog.ts"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import { logFailure } from "../../layers/postgres/Batch.ts"
import { DueWork, repeatedly } from "../../layers/postgres/DueWork.ts"
import { Signals, webhooksDue } from "../../layers/queues/Signals.ts"
import { type DueDelivery, type Outcome, WebhookDeliveries } from "../../layers/webhooks/Deliveries.ts"
import { type WebhookAnswer, WebhookSender } from "../../layers/webhooks/Sender.ts"
import { pauseReason, retryDelay } from "../../schema/webhooks/Retry.ts"
import { places, usesUp } from "../../schema/webhooks/Shares.ts"

/** A log is kept for 30 days after somebody listened last. */
const listenEvery = "6 hours"

const accepted = (status: number | null): boolean => status !== null && status >= 200 && status < 300

/** `random` is from 0 to 1. */
export const outcomeOf = (
  { attempts, failing_since }: Pick<DueDelivery, "attempts" | "failing_since">,
  { at, status }: Pick<WebhookAnswer, "at" | "status">,
  random: number
): Outcome => {
  if (accepted(status)) return { _tag: "Delivered" }
  const failingMillis = failing_since === null ? 0 : at.getTime() - failing_since.getTime()
  const pause = pauseReason({ status, attempts }, failingMillis)
  const delay = pause === null ? retryDelay(attempts, random) : null
  return delay === null ? { _tag: "Failed", pause } : { _tag: "Retry", inMillis: delay }
}

export const WebhookWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const deliveries = yield* WebhookDeliveries
    const sender = yield* WebhookSender
    const log = yield* EventLog
    const signals = yield* Signals
    const { whenDue } = yield* DueWork
    const sending = new Set<DueDelivery>()
    /** The organization that got the last place. The next places go to those behind it. */
    let after = ""

    const deliver = Effect.fnUntraced(function* (delivery: DueDelivery) {
      const answer = yield* sender.send(delivery)
      yield* crashPoint("webhooks.answered")
      const outcome = outcomeOf(delivery, answer, yield* Random.next)
      yield* deliveries.record(delivery, answer, outcome)
      if (outcome._tag === "Failed" && outcome.pause !== null)
        yield* Effect.logWarning(
          `webhook endpoint ${delivery.endpoint_id} is paused: ${outcome.pause === "gone" ? "it answered 410" : "it has accepted nothing for days"}`
        )
    })

    const begin = (delivery: DueDelivery) => {
      sending.add(delivery)
      const end = Effect.sync(() => {
        const awaited = usesUp([...sending], delivery)
        sending.delete(delivery)
        if (awaited) startPass()
      })
      return deliver(delivery).pipe(
        Effect.catchCause(logFailure(`Sending webhook ${delivery.delivery_id} failed; it is sent again in a minute`)),
        Effect.ensuring(end),
        Effect.forkIn(scope)
      )
    }

    const sendDue = Effect.gen(function* () {
      while (sending.size < places) {
        const due = yield* deliveries.claim([...sending], after)
        if (due.length === 0) return
        after = due.at(-1)?.org_id ?? after
        yield* crashPoint("webhooks.claimed")
        yield* Effect.forEach(due, begin, { discard: true })
      }
    })

    /** Makes one page of deliveries for each organization that has new events. Returns true if some may have more. */
    const fanOut = Effect.gen(function* () {
      const more = yield* Effect.forEach(yield* deliveries.behind, deliveries.fanOut)
      return more.includes(true)
    })

    const scope = yield* Effect.scope
    const pass = Effect.repeat(Effect.tap(fanOut, sendDue), { while: (more) => more })
    const startPass = yield* whenDue("webhooks", WebhookDeliveries.due, pass)
    /** Organizations with endpoints. A signal that the log of one of them has grown begins a pass at once. */
    let followers = new Set<string>()
    const follow = Effect.map(deliveries.followers, (org_ids) => {
      followers = new Set(org_ids)
    })
    const othersFollow = () => `(SELECT count(DISTINCT org_id) FROM webhook_endpoints) <> ${followers.size}`
    yield* whenDue("organizations with webhooks", othersFollow, follow)
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        signals.listen((ids) => {
          if (ids.some((id) => id === webhooksDue || followers.has(id))) startPass()
        })
      ),
      (stop) => Effect.sync(stop)
    )
    const keepLogs = Effect.flatMap(deliveries.followers, (org_ids) =>
      Effect.forEach(org_ids, log.listen, { discard: true })
    )
    const forget = Effect.repeat(deliveries.forget, { until: (deleted) => deleted === 0 })

    yield* repeatedly("webhooks", listenEvery, Effect.andThen(keepLogs, forget))
  })
)
