/**
 * Charges saved payment methods when a wallet's turn decided so, and reconciles missed webhooks by polling the payment processor.
 *
 * Any number of workers may do this at once. Postgres stores each pending charge under an id that is also its idempotency key at the
 * processor, so a retried charge is made once. Its outcome becomes a command to the wallet.
 */
import { Cause, Context, Effect, Layer } from "effect"
import { oneLine } from "../../layers/postgres/Batch.ts"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import { MailStore } from "../../layers/ledger/MailStore.ts"
import { type OpenPayment, PaymentStore } from "../../layers/payments/PaymentStore.ts"
import { type ChargeOutcome, Payments } from "../../layers/payments/Payments.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { MicroUsd } from "../../schema/money/Money.ts"
import type { PaymentFact } from "../../schema/wallet/PaymentFact.ts"
import { encodeAutoTopup } from "../mailbox/Commands.ts"
import { Lanes } from "../mailbox/Lanes.ts"
import { PaymentEvents } from "./PaymentEvents.ts"

/** Payments that one statement claims. */
const claimMax = 50
/** Concurrent charges and look-ups per process. */
const parallel = 8
/** Processors keep idempotency keys for 24 hours. An older charge is only looked up, never retried. */
const keyHoldsSeconds = 20 * 3_600
/** A checkout of this age can no longer be paid. */
const checkoutEndsSeconds = 26 * 3_600
/** Poll interval for charges that the processor is still processing. Usually its webhook comes first. */
const pendingSeconds = 60
/** Doubles with each attempt, up to ten minutes. */
const retrySeconds = (looks: number) => Math.min(600, 2 ** Math.min(looks, 10))
/** Overlap of two readings of the event list, because the list may lag behind the processor's clock. */
const overlapMillis = 10 * 60_000

export class PaymentWorker extends Context.Service<
  PaymentWorker,
  {
    /** Processes due work: charges, open checkouts, and automatic top-ups whose waiting time is over. */
    readonly processDue: Effect.Effect<void>
    /** Reads the processor's events since the last reading. Returns how many missed events were stored. */
    readonly reconcile: Effect.Effect<number>
  }
>()("rungate/actors/payments/PaymentWorker") {
  static readonly layer = Layer.effect(
    PaymentWorker,
    Effect.gen(function* () {
      const { leaseSeconds, reconcileSeconds } = yield* Settings
      const store = yield* PaymentStore
      const payments = yield* Payments
      const events = yield* PaymentEvents
      const mail = yield* MailStore
      const lanes = yield* Lanes

      const failed = (reason: string): PaymentFact => ({ _tag: "Failed", session_id: null, reason })

      /** The outcome of a charge as a fact. Null while the charge is pending. */
      const factOf = (customer: string, outcome: ChargeOutcome): PaymentFact | null => {
        if (outcome._tag === "Declined") return failed(outcome.message)
        if (outcome._tag === "Pending") return null
        const { payment_intent, amount, currency } = outcome
        return { _tag: "Paid", session_id: null, payment_intent, customer, amount, currency }
      }

      /** The payment method of this charge. Fixed before the first attempt, so that every attempt uses the same one. */
      const methodFor = Effect.fnUntraced(function* (payment: OpenPayment) {
        if (payment.customer !== null && payment.payment_method !== null)
          return { customer: payment.customer, payment_method: payment.payment_method }
        const saved = yield* store.method(payment.org_id)
        const method = saved === null ? null : yield* payments.savedMethod(saved.payment_intent)
        if (saved === null || method === null) return null
        yield* store.keepMethod(payment.org_id, saved.payment_intent, method)
        return yield* store.fixMethod(payment.payment_id, method)
      })

      const charge = Effect.fn("PaymentWorker.charge")(function* (payment: OpenPayment) {
        const { payment_id, org_id, looks, age_seconds, created_at } = payment
        const method = yield* methodFor(payment)
        const fact = yield* Effect.gen(function* () {
          if (method === null)
            return failed("The saved payment method no longer exists. Complete a checkout to save a new one.")
          const { customer } = method
          // Under one idempotency key the processor repeats a failed answer even if the charge succeeded. So the third attempt looks it up first.
          const tooOld = looks > 1 && age_seconds > keyHoldsSeconds
          const charge = looks > 2 || tooOld ? yield* payments.findCharge(customer, payment_id, created_at) : null
          if (charge !== null) return factOf(customer, charge)
          if (tooOld) return failed("The payment processor has no record of this charge.")
          yield* crashPoint("charge.before")
          const outcome = yield* payments.charge({ payment_id, org_id, amount: MicroUsd(payment.amount), ...method })
          yield* crashPoint("charge.after")
          return factOf(customer, outcome)
        })
        if (fact === null) return yield* store.checkAgain(payment_id, pendingSeconds)
        yield* events.record(payment, `charge:${payment_id}:${fact._tag}`, [fact])
      })

      const checkSession = Effect.fn("PaymentWorker.checkSession")(function* (
        payment: OpenPayment,
        session_id: string
      ) {
        const state = yield* payments.session(session_id)
        const { payment_intent, customer, amount, currency } = state
        if (state.paid) {
          const fact: PaymentFact = { _tag: "Paid", session_id, payment_intent, customer, amount, currency }
          yield* Effect.logWarning(
            `${payment.payment_id} was paid, but no webhook arrived. Check the webhook at the payment processor.`
          )
          yield* events.record(payment, `look:${session_id}:paid`, [fact])
        } else if (state.status === "expired") {
          yield* events.record(payment, `look:${session_id}:expired`, [{ _tag: "Expired", session_id }])
        }
      })

      const processPayment = (payment: OpenPayment) => {
        if (payments.processor === "none") return Effect.void
        if (payment.kind === "auto") return charge(payment)
        // A simulated payment is paid at once. If it is still open, its process died before it stored the payment's fact.
        if (payment.session_id !== null && payment.kind === "checkout") return checkSession(payment, payment.session_id)
        if (payment.age_seconds < checkoutEndsSeconds) return Effect.void
        const fact: PaymentFact = { _tag: "Expired", session_id: payment.session_id ?? "" }
        return events.record(payment, `look:${payment.payment_id}:expired`, [fact])
      }

      /** One that fails, as those of an organization that is moving to another cell do, must not stop the others. */
      const orLog = <A, E, R>(what: string, work: Effect.Effect<A, E, R>) =>
        Effect.catchCause(work, (cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.failCause(cause)
            : Effect.logError(`Processing ${what} failed; the next pass retries: ${oneLine(cause)}`)
        )

      const processAndLog = (payment: OpenPayment) =>
        orLog(
          payment.payment_id,
          Effect.catchTag(processPayment(payment), "ProcessorUnavailable", ({ message }) =>
            Effect.andThen(
              Effect.logWarning(`Checking ${payment.payment_id} failed; a later pass retries: ${message}`),
              payment.kind === "auto" ? store.checkAgain(payment.payment_id, retrySeconds(payment.looks)) : Effect.void
            )
          )
        )

      const wake = Effect.fnUntraced(function* (org_id: string) {
        const payload = encodeAutoTopup({ _tag: "Wake" })
        const lane = yield* mail.enqueue({
          command_id: null,
          org_id,
          run_id: null,
          tag: "AutoTopup",
          payload,
          result: null
        })
        yield* lanes.wake(lane)
      })

      const processDue = Effect.fn("PaymentWorker.processDue")(function* () {
        for (const org_id of yield* store.autoTopupsDue(claimMax))
          yield* orLog(`the automatic top-up of ${org_id}`, wake(org_id))
        let more = true
        while (more) {
          const due = yield* store.due(2 * leaseSeconds, claimMax)
          yield* Effect.forEach(due, processAndLog, { concurrency: parallel, discard: true })
          more = due.length === claimMax
        }
      })

      const reconcile = Effect.fn("PaymentWorker.reconcile")(function* () {
        if (payments.processor !== "stripe") return 0
        const now = new Date(1_000 * (yield* store.nowSeconds))
        const readTo = yield* store.beginReading(payments.processor, reconcileSeconds / 2)
        if (readTo === null) return 0
        const listed = yield* payments.eventsSince(new Date(readTo.getTime() - overlapMillis))
        const unseen = yield* store.unseen(listed.map((event) => event.event_id))
        let ours = 0
        let missed = 0
        for (const event of listed) {
          if (!unseen.has(event.event_id)) continue
          // One event that can't be checked must not delay the others. All are read again until it can be checked.
          const received = Effect.catchTag(events.receive(event), "ProcessorUnavailable", ({ message }) =>
            Effect.logWarning(`Checking ${event.event_id} failed; the next reconciliation retries: ${message}`)
          )
          const handled = yield* orLog(event.event_id, received)
          if (handled === "stored") ours += 1
          if (handled === undefined) missed += 1
        }
        if (missed > 0) return ours
        yield* store.keepReadTo(payments.processor, readTo, now)
        return ours
      })

      return PaymentWorker.of({
        processDue: processDue(),
        reconcile: reconcile().pipe(
          Effect.catchTag("ProcessorUnavailable", ({ message }) =>
            Effect.as(
              Effect.logWarning(
                `Reading the payment processor's events failed; the next reconciliation retries: ${message}`
              ),
              0
            )
          )
        )
      })
    })
  )
}
