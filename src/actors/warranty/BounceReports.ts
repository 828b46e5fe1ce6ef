/**
 * Takes events by which providers report bounces, and disputes the runs that called the bounced address valid, as their organization could.
 *
 * An event proves that the provider sent it, and no more: a customer's raw request through the same account may carry anybody's run id. So
 * the named run must have sent this very message to this address. Whether it bounced is then asked of the provider, as for every
 * dispute, so that a stolen secret makes no refund. A dispute is stored before the event is answered, and the provider is asked after it.
 */
import { Clock, Context, Effect, Layer, Redacted, Schema, Semaphore } from "effect"
import { Catalog, type CatalogOffer } from "../../layers/catalog/Catalog.ts"
import type { IndexBehind } from "../../layers/history/FreshRuns.ts"
import { HistoryStore } from "../../layers/history/HistoryStore.ts"
import { ApprovalStore } from "../../layers/members/ApprovalStore.ts"
import { logFailure } from "../../layers/postgres/Batch.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { RunStore } from "../../layers/runs/RunStore.ts"
import { coverOfRow } from "../../layers/warranty/cover.ts"
import { Disputes } from "../../layers/warranty/Disputes.ts"
import { emailSend } from "../../schema/capabilities/email.send.ts"
import { looksLike } from "../../schema/Ids.ts"
import { parsedOrText } from "../../schema/json/Json.ts"
import type { BouncedMessage, BounceEvents, ReceivedEvent } from "../../schema/mail/BounceEvents.ts"
import { readAs } from "../../schema/subjects/Subject.ts"
import { sentBy } from "./sentBy.ts"
import { Warranties } from "./Warranties.ts"
import type { RunRow } from "../../schema/nouns/Run.ts"

/** The newest runs about an address that are looked at. One organization rarely buys an address more than once in a week. */
const runsMax = 100
/** Events whose provider is asked at once. Others wait their turn. */
const atOnce = 4
/** Events that wait. Beyond that the provider sends its event again later. */
const waitingMax = 1_000

/** The event is not signed with the secret of the settings, or is too old. */
export class EventRefused extends Schema.TaggedError<EventRefused>()("EventRefused", {}) {}
/** The run that sent the message has not ended, or too many events wait. The provider sends the event again. */
export class EventPostponed extends Schema.TaggedError<EventPostponed>()("EventPostponed", {}) {}

interface Door {
  readonly offer: CatalogOffer
  readonly events: BounceEvents
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

export class BounceReports extends Context.Service<
  BounceReports,
  {
    /** Whether a provider's events are taken: it has some, and the settings have a secret for them. */
    readonly takes: (provider: string) => boolean
    /** The number of runs that it disputes. */
    readonly receive: (
      provider: string,
      event: ReceivedEvent
    ) => Effect.Effect<number, EventRefused | EventPostponed | IndexBehind>
  }
>()("rungate/actors/warranty/BounceReports") {
  static readonly layer = Layer.effect(
    BounceReports,
    Effect.gen(function* () {
      const approvals = yield* ApprovalStore
      const catalog = yield* Catalog
      const disputes = yield* Disputes
      const history = yield* HistoryStore
      const runs = yield* RunStore
      const warranties = yield* Warranties
      const { current, warrantyShareBps } = yield* Settings
      const scope = yield* Effect.scope
      const turns = Semaphore.makeUnsafe(atOnce)
      let waiting = 0

      const doorOf = (provider: string): Door | null => {
        const secrets = current().accounts.get(provider)?.webhookSecrets ?? []
        const offer = catalog.offer(emailSend.slug, provider)
        const events = offer?.offer.bounce?.events
        return offer === undefined || events === undefined || secrets.length === 0 ? null : { offer, events, secrets }
      }

      /** The run that sent the message to the address through the operator's account. Null if the event's claim is not true of it. */
      const sendOf = Effect.fnUntraced(function* (offer: CatalogOffer, message: BouncedMessage) {
        const org_id = looksLike("run", message.run_id) ? yield* runs.ownerOf(message.run_id) : null
        const row = org_id === null ? null : yield* runs.find(org_id, message.run_id)
        if (row === null || row.capability !== emailSend.slug) return null
        // A provider that knows an address as bad may report the bounce before the run has stored its message.
        if (row.finished_at === null) return yield* Effect.fail(new EventPostponed())
        if (row.provider !== offer.provider.slug) return null
        const sent = sentBy(row, offer)
        const isIt = sent !== null && !sent.own && sent.message_id === message.message_id
        return isIt && sent.accepted?.includes(message.address) === true ? row : null
      })

      /** Runs of the sender's organization that called the address valid before it was sent to, and can still be disputed. */
      const vouchers = Effect.fnUntraced(function* (send: RunRow, address: string) {
        const subject = readAs(address, "email")
        if (subject === null) return []
        const ids = yield* history.newest(send.org_id, subject, runsMax)
        const rows = yield* Effect.forEach(ids, (run_id) => runs.find(send.org_id, run_id), {
          concurrency: "unbounded"
        })
        const [now, sent_at] = [yield* Clock.currentTimeMillis, yield* approvals.startableAt(send)]
        return rows.flatMap((row) => {
          const cover = row === null ? null : coverOfRow(row)
          if (row === null || row.finished_at === null || cover?._tag !== "Covered") return []
          const covers = cover.address === address && now <= cover.until.getTime() && row.finished_at <= sent_at
          return covers ? [row.run_id] : []
        })
      })

      const dispute = (org_id: string, run_id: string, send_run: string) =>
        warranties.dispute(org_id, run_id, send_run).pipe(
          turns.withPermit,
          Effect.catchCause(logFailure(`Disputing ${run_id} for a bounced address failed; the dispute worker retries`)),
          Effect.ensuring(
            Effect.sync(() => {
              waiting -= 1
            })
          )
        )

      const act = Effect.fn("BounceReports.act")(function* (offer: CatalogOffer, message: BouncedMessage) {
        if (waiting >= waitingMax) return yield* Effect.fail(new EventPostponed())
        const send = yield* sendOf(offer, message)
        if (send === null) return 0
        const { org_id, run_id: send_run } = send
        const run_ids = yield* vouchers(send, message.address)
        for (const run_id of run_ids) {
          // What is known of a dispute stays as it is.
          if ((yield* disputes.find(run_id)) === null)
            yield* disputes.open({ org_id, run_id }, send_run, `${offer.provider.title} reports a bounce`)
        }
        for (const run_id of run_ids) {
          waiting += 1
          yield* Effect.forkIn(dispute(org_id, run_id, send_run), scope)
        }
        return run_ids.length
      })

      const receive = (provider: string, event: ReceivedEvent) => {
        const door = doorOf(provider)
        const isGenuine = door?.secrets.some((secret) => door.events.isGenuine(event, Redacted.value(secret))) === true
        if (door === null || !isGenuine) return Effect.fail(new EventRefused())
        const message = door.events.bounced(parsedOrText(event.body))
        return message === null || warrantyShareBps === 0 ? Effect.succeed(0) : act(door.offer, message)
      }

      return BounceReports.of({ takes: (provider) => doorOf(provider) !== null, receive })
    })
  )
}
