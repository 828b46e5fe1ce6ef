/**
 * Turns events of the payment processor into commands for the wallet. Events arrive by webhook or by polling (PaymentWorker).
 *
 * When a call returns, the facts are stored durably, and the wallet's turn applies each once. Events about unknown payments are
 * ignored, because the processor account may also serve other products.
 */
import { Context, Effect, Layer } from "effect"
import { MailStore } from "../../layers/ledger/MailStore.ts"
import { PaymentStore } from "../../layers/payments/PaymentStore.ts"
import { Payments, type ProcessorEvent, type ProcessorUnavailable } from "../../layers/payments/Payments.ts"
import type { PaymentFact } from "../../schema/wallet/PaymentFact.ts"
import { encodePay } from "../mailbox/Commands.ts"
import { Lanes } from "../mailbox/Lanes.ts"

export class PaymentEvents extends Context.Service<
  PaymentEvents,
  {
    /** Stores an event's facts. `ignored`: the event concerns no payment of this service, or has no facts. */
    readonly receive: (event: ProcessorEvent) => Effect.Effect<"stored" | "ignored", ProcessorUnavailable>
    /**
     * Stores facts about a payment, unique by `event_id`. Asks the processor for the card if a welcome bonus depends on it, and
     * stores nothing if the processor does not answer.
     */
    readonly record: (
      payment: { readonly payment_id: string; readonly org_id: string },
      event_id: string,
      facts: ReadonlyArray<PaymentFact>
    ) => Effect.Effect<void, ProcessorUnavailable>
  }
>()("rungate/actors/payments/PaymentEvents") {
  static readonly layer = Layer.effect(
    PaymentEvents,
    Effect.gen(function* () {
      const mail = yield* MailStore
      const store = yield* PaymentStore
      const payments = yield* Payments
      const lanes = yield* Lanes

      const withCard = Effect.fnUntraced(function* (org_id: string, fact: PaymentFact) {
        if (fact._tag !== "Paid" || fact.payment_intent === null || !(yield* store.awaitsBonus(org_id))) return fact
        return { ...fact, card: yield* payments.card(fact.payment_intent) }
      })

      const record = Effect.fn("PaymentEvents.record")(function* (
        { payment_id, org_id }: { readonly payment_id: string; readonly org_id: string },
        event_id: string,
        facts: ReadonlyArray<PaymentFact>
      ) {
        const complete = yield* Effect.forEach(facts, (fact) => withCard(org_id, fact))
        for (const [index, fact] of complete.entries()) {
          const payload = encodePay({
            payment_id,
            event_id: facts.length === 1 ? event_id : `${event_id}:${index}`,
            fact
          })
          const lane = yield* mail.enqueue({
            command_id: null,
            org_id,
            run_id: null,
            tag: "Pay",
            payload,
            result: null
          })
          yield* lanes.wake(lane)
        }
      })

      /**
       * The payment that an event names. All names in an event must belong to one payment. Refunds and disputes name only the charge.
       * If that is unknown here, the processor returns the payment id that was stored with the charge.
       */
      const paymentOf = Effect.fnUntraced(function* ({ event_id, type, about, facts, ask_reversals }: ProcessorEvent) {
        const reversal_ids = facts.flatMap((fact) => (fact._tag === "Reversed" ? [fact.reversal_id] : []))
        const [payment, otherPayment] = yield* store.findByIds(about, reversal_ids)
        const named_id = about.payment_id ?? payment?.payment_id
        if (payment !== undefined && (otherPayment !== undefined || payment.payment_id !== named_id)) {
          yield* Effect.logWarning(`${type} ${event_id} names two payments and was ignored`)
          return null
        }
        if (payment !== undefined) return payment
        const reverses = ask_reversals || reversal_ids.length > 0
        const payment_id =
          reverses && about.payment_intent !== null ? yield* payments.paymentOf(about.payment_intent) : null
        const [reversedPayment] =
          payment_id === null ? [] : yield* store.findByIds({ payment_id, session_id: null, payment_intent: null }, [])
        if (reversedPayment === undefined)
          yield* Effect.logInfo(`${type} ${event_id} concerns no payment of this service`)
        return reversedPayment ?? null
      })

      const receive = Effect.fn("PaymentEvents.receive")(function* (event: ProcessorEvent) {
        if (event.facts.length === 0 && !event.ask_reversals) return "ignored" as const
        const payment = yield* paymentOf(event)
        if (payment === null) return "ignored" as const
        const intent = event.about.payment_intent
        const reversals = event.ask_reversals && intent !== null ? yield* payments.reversals(intent) : []
        yield* Effect.uninterruptible(record(payment, event.event_id, event.facts))
        for (const fact of reversals) {
          if (fact._tag !== "Reversed") continue
          // The answer reflects the current state. A repeated event may return further facts, so each fact has its own id.
          const name = `${event.event_id}:${fact.reversal_id}:${fact.standing}`
          yield* Effect.uninterruptible(record(payment, name, [fact]))
        }
        return "stored" as const
      })

      return PaymentEvents.of({ receive, record })
    })
  )
}
