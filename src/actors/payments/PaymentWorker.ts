/**
 * The cashier: charges saved methods where a wallet's turn decided so, and asks the processor what nobody told us.
 *
 * Any number of workers run it. What is to be charged stands in Postgres, with one name per charge that the processor knows too, so
 * a charge that was begun and never heard of is asked for again and made once. Its outcome is a command like any other.
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

const lookMax = 50
/** Charges and looks under way at once in one process. */
const parallel = 8
/** Processors remember an idempotency key for a day: an older charge is looked up, and never asked for again. */
const keyHoldsSeconds = 20 * 3_600
/** A checkout that nobody can pay any more, whatever the processor's own word on it was. */
const checkoutEndsSeconds = 26 * 3_600
/** The processor works on it: its event tells, and we ask now and then. */
const pendingSeconds = 60
/** Doubles with every try, up to ten minutes. */
const retrySeconds = (looks: number) => Math.min(600, 2 ** Math.min(looks, 10))
/** Events are read again from so long before: the processor's list may lag behind its clock. */
const overlapMillis = 10 * 60_000

export class PaymentWorker extends Context.Service<
  PaymentWorker,
  {
    /** Looks after everything that is due: charges, open checkouts, automatic top-ups that have waited. */
    readonly processDue: Effect.Effect<void>
    /** Reads the processor's record of events since the last time. Answers how many were about us. */
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

      /** What a charge came to, as a fact; null while nobody knows. */
      const factOf = (customer: string, outcome: ChargeOutcome): PaymentFact | null => {
        if (outcome._tag === "Declined") return failed(outcome.message)
        if (outcome._tag === "Pending") return null
        const { payment_intent, amount, currency } = outcome
        return { _tag: "Paid", session_id: null, payment_intent, customer, amount, currency }
      }

      /** The method that this charge is made with: fixed before the first try, so that every try asks for the same. */
      const methodFor = Effect.fnUntraced(function* (payment: OpenPayment) {
        if (payment.customer !== null && payment.payment_method !== null)
          return { customer: payment.customer, payment_method: payment.payment_method }
        const saved = yield* store.method(payment.org_id)
        const method = saved === null ? null : yield* payments.savedMethod(saved.payment_intent)
        if (saved === null || method === null) return null
        yield* store.keepMethod(payment.org_id, saved.payment_intent, method)
        return yield* store.chargeWith(payment.payment_id, method)
      })

      const charge = Effect.fn("PaymentWorker.charge")(function* (payment: OpenPayment) {
        const { payment_id, org_id, looks, age_seconds, created_at } = payment
        const method = yield* methodFor(payment)
        const fact = yield* Effect.gen(function* () {
          if (method === null)
            return failed("There is no saved payment method any more; complete a checkout to save one.")
          const { customer } = method
          // An answer that was a failure is repeated as one under the same key, whatever became of the money: a third try looks first.
          const tooOld = looks > 1 && age_seconds > keyHoldsSeconds
          const known = looks > 2 || tooOld ? yield* payments.findCharge(customer, payment_id, created_at) : null
          if (known !== null) return factOf(customer, known)
          if (tooOld) return failed("The charge did not reach the payment processor.")
          yield* crashPoint("charge.before")
          const outcome = yield* payments.charge({ payment_id, org_id, amount: MicroUsd(payment.amount), ...method })
          yield* crashPoint("charge.after")
          return factOf(customer, outcome)
        })
        if (fact === null) return yield* store.lookAgain(payment_id, pendingSeconds)
        yield* events.tell(payment, `charge:${payment_id}:${fact._tag}`, [fact])
      })

      const askSession = Effect.fn("PaymentWorker.askSession")(function* (payment: OpenPayment, session_id: string) {
        const state = yield* payments.session(session_id)
        const { payment_intent, customer, amount, currency } = state
        if (state.paid) {
          const fact: PaymentFact = { _tag: "Paid", session_id, payment_intent, customer, amount, currency }
          yield* Effect.logWarning(`${payment.payment_id} was paid and nobody told us: is the webhook set up?`)
          yield* events.tell(payment, `look:${session_id}:paid`, [fact])
        } else if (state.status === "expired") {
          yield* events.tell(payment, `look:${session_id}:expired`, [{ _tag: "Expired", session_id }])
        }
      })

      const look = (payment: OpenPayment) => {
        if (payments.processor === "none") return Effect.void
        if (payment.kind === "auto") return charge(payment)
        // The sandbox pays at once; what is left open of it was never sent.
        if (payment.session_id !== null && payment.kind === "checkout") return askSession(payment, payment.session_id)
        if (payment.age_seconds < checkoutEndsSeconds) return Effect.void
        const fact: PaymentFact = { _tag: "Expired", session_id: payment.session_id ?? "" }
        return events.tell(payment, `look:${payment.payment_id}:expired`, [fact])
      }

      const lookAfter = (payment: OpenPayment) =>
        look(payment).pipe(
          Effect.catchTag("ProcessorUnavailable", ({ message }) =>
            Effect.andThen(
              Effect.logWarning(`${payment.payment_id}: ${message}`),
              payment.kind === "auto" ? store.lookAgain(payment.payment_id, retrySeconds(payment.looks)) : Effect.void
            )
          ),
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : Effect.logError(`${payment.payment_id}: ${oneLine(cause)}`)
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
        for (const org_id of yield* store.rested(lookMax)) yield* wake(org_id)
        let more = true
        while (more) {
          const due = yield* store.due(2 * leaseSeconds, lookMax)
          yield* Effect.forEach(due, lookAfter, { concurrency: parallel, discard: true })
          more = due.length === lookMax
        }
      })

      const reconcile = Effect.fn("PaymentWorker.reconcile")(function* () {
        if (payments.processor !== "stripe") return 0
        const now = new Date(1_000 * (yield* store.nowSeconds))
        const readTo = yield* store.beginReading(payments.processor, reconcileSeconds / 2)
        if (readTo === null) return 0
        const found = yield* payments.eventsSince(new Date(readTo.getTime() - overlapMillis))
        const unseen = yield* store.unseen(found.map((event) => event.event_id))
        let ours = 0
        let missed = 0
        for (const event of found) {
          if (!unseen.has(event.event_id)) continue
          // One that can't be looked into must not keep the others waiting; all are read again until it can.
          const heard = yield* Effect.catchTag(events.hear(event), "ProcessorUnavailable", ({ message }) =>
            Effect.as(Effect.logWarning(`${event.type} ${event.event_id}: ${message}`), "missed" as const)
          )
          if (heard === "stored") ours += 1
          if (heard === "missed") missed += 1
        }
        if (missed > 0) return ours
        yield* store.keepReadTo(payments.processor, now)
        return ours
      })

      return PaymentWorker.of({
        processDue: processDue(),
        reconcile: reconcile().pipe(
          Effect.catchTag("ProcessorUnavailable", ({ message }) =>
            Effect.as(Effect.logWarning(`the payment processor's events can't be read: ${message}`), 0)
          )
        )
      })
    })
  )
}
