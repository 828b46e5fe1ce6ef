/**
 * Payments with Stripe, through its SDK.
 *
 * Every call that could charge twice carries our `payment_id` as idempotency key and in its metadata. A retry is safe for a day. After that,
 * a look-up finds what happened. StripeObjects.ts validates the answers.
 */
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import type Stripe from "stripe"
import { centsOf, type MicroUsd, ofCents } from "../../schema/money/Money.ts"
import {
  type ChargeAsk,
  type ChargeOutcome,
  type CheckoutAsk,
  Payments,
  ProcessorUnavailable,
  type SettledPayment
} from "./Payments.ts"
import { Settings, type StripeAccount } from "../platform/Settings.ts"
import { eventOf, eventTypes, StripeEvent } from "./StripeEvents.ts"
import { ask, type Fault, isMissing, surely } from "./StripeFaults.ts"
import {
  cardOf,
  declineOf,
  Dispute,
  disputeFacts,
  idOf,
  Intent,
  isPaid,
  labelOf,
  Method,
  paymentIdOf,
  priceOf,
  Refund,
  refundFacts,
  Session,
  waited
} from "./StripeObjects.ts"
import { verify } from "./StripeSignature.ts"

/** A charge takes a bank some seconds; a customer at the checkout waits no longer than this, twice. */
const timeoutMillis = 15_000
/** Under the same idempotency key. Who needs more attempts makes them later. */
const retriesMax = 1
const pageMax = 100
/** More than a busy shop's month of events: a limit on memory, not on trade. */
const listedMax = 50_000
/** Stripe's clock and the database's may differ by so much without a payment being overlooked. */
const skewSeconds = 300

const unusable = "The saved payment method can't be charged any more. Top up once through the checkout page."

const decodeMethod = Schema.decodeUnknownOption(Schema.NullishOr(Method))

const declined = (error: Parameters<typeof declineOf>[0]): ChargeOutcome => ({
  _tag: "Declined",
  message: declineOf(error)
})

const clientOf = (SDK: typeof Stripe, { secretKey, apiBase }: StripeAccount) => {
  const base = apiBase === null ? null : new URL(apiBase)
  return new SDK(Redacted.value(secretKey), {
    telemetry: false,
    timeout: timeoutMillis,
    maxNetworkRetries: retriesMax,
    // An API doesn't redirect, and the key must not follow where somebody points.
    httpClient: SDK.createFetchHttpClient(
      Object.assign((url: RequestInfo | URL, init?: RequestInit) => fetch(url, { ...init, redirect: "error" }), {
        preconnect: fetch.preconnect
      })
    ),
    ...(base === null
      ? {}
      : {
          host: base.hostname,
          port: base.port || (base.protocol === "https:" ? 443 : 80),
          protocol: base.protocol === "https:" ? "https" : "http"
        })
  })
}

/** Whole cents, or a mistake of ours: the API above takes nothing else. */
const wholeCents = (amount: MicroUsd): Effect.Effect<number> => {
  const cents = centsOf(amount)
  return cents === null ? Effect.die(new Error("a payment must be of whole cents")) : Effect.succeed(cents)
}

/** All pages, and one object more than allowed when there are too many. */
const everything = async (pages: Stripe.ApiListPromise<unknown>) => {
  const found: Array<unknown> = []
  await pages.autoPagingEach((one) => found.push(one) <= listedMax)
  return found
}

const secondsOf = (date: Date, slack = 0) => Math.floor(date.getTime() / 1000) - slack

const make = Effect.fnUntraced(function* (account: StripeAccount) {
  // The SDK costs 15 ms to load, which the sandbox need not spend.
  const { default: SDK } = yield* Effect.promise(() => import("stripe"))
  const stripe = clientOf(SDK, account)

  const list = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, pages: () => Stripe.ApiListPromise<unknown>) =>
    surely(ask(Schema.Array(schema), () => everything(pages()))).pipe(
      Effect.filterOrFail(
        (found) => found.length <= listedMax,
        () => new ProcessorUnavailable({ message: `Stripe lists more than ${listedMax} objects: ask about less time.` })
      )
    )
  const intentOf = (id: string) => ask(Intent, () => stripe.paymentIntents.retrieve(id, { expand: ["payment_method"] }))

  const openSession = (asked: CheckoutAsk, cents: number, customer: string | null, idempotencyKey: string) => {
    const metadata = { payment_id: asked.payment_id, org_id: asked.org_id }
    return ask(Session, () =>
      stripe.checkout.sessions.create(
        {
          mode: "payment",
          line_items: [
            {
              quantity: 1,
              price_data: { currency: "usd", unit_amount: cents, product_data: { name: "Rungate credit" } }
            }
          ],
          client_reference_id: asked.org_id,
          metadata,
          payment_intent_data: { metadata, setup_future_usage: "off_session" },
          // The wallet is in dollars: what is paid, refunded and disputed must be too.
          adaptive_pricing: { enabled: false },
          success_url: asked.success_url,
          cancel_url: asked.cancel_url,
          ...(customer === null ? { customer_creation: "always" } : { customer })
        },
        { idempotencyKey }
      )
    )
  }

  /** What an intent has come to. One that waits for its payer is cancelled: nobody is there, and it must not succeed later. */
  const outcomeOf = (intent: Intent, mayCancel = true): Effect.Effect<ChargeOutcome, Fault> => {
    const { id: payment_intent, status, last_payment_error } = intent
    switch (status) {
      case "succeeded": {
        const amount = ofCents(intent.amount_received ?? intent.amount)
        return Effect.succeed({ _tag: "Succeeded", payment_intent, amount, currency: intent.currency })
      }
      case "processing":
        return Effect.succeed({ _tag: "Pending", payment_intent })
      case "canceled":
        return Effect.succeed(declined(last_payment_error ?? waited))
      case "requires_payment_method":
        return Effect.succeed(declined(last_payment_error))
      default:
        if (!mayCancel) {
          return Effect.fail(
            new ProcessorUnavailable({ message: `A charge stays open at Stripe (${payment_intent}).` })
          )
        }
        return ask(Intent, () => stripe.paymentIntents.cancel(payment_intent)).pipe(
          // It can't be cancelled any more, so it has ended in another way.
          Effect.catchIf(
            (fault) => fault._tag === "refused",
            () => intentOf(payment_intent)
          ),
          Effect.flatMap((ended) => outcomeOf(ended, false))
        )
    }
  }

  const charged = (asked: ChargeAsk, cents: number) =>
    ask(Intent, () =>
      stripe.paymentIntents.create(
        {
          amount: cents,
          currency: "usd",
          customer: asked.customer,
          payment_method: asked.payment_method,
          off_session: true,
          confirm: true,
          description: "Rungate credit",
          metadata: { payment_id: asked.payment_id, org_id: asked.org_id }
        },
        { idempotencyKey: asked.payment_id }
      )
    ).pipe(Effect.flatMap((intent) => outcomeOf(intent)))

  return Payments.of({
    processor: "stripe",

    checkout: Effect.fnUntraced(function* (asked) {
      const cents = yield* wholeCents(asked.amount)
      const { customer, payment_id } = asked
      const session = yield* surely(
        openSession(asked, cents, customer, payment_id).pipe(
          // A customer that was deleted at Stripe must not keep the organization from paying: it becomes a new one.
          Effect.catchIf(
            (fault) => customer !== null && isMissing(fault, "customer"),
            () => openSession(asked, cents, null, `${payment_id}:anew`)
          )
        )
      )
      if (!session.url || !session.expires_at) {
        return yield* new ProcessorUnavailable({ message: "Stripe opened no checkout page." })
      }
      return { session_id: session.id, url: session.url, expires_at: new Date(session.expires_at * 1000) }
    }),

    session: Effect.fnUntraced(function* (session_id) {
      const session = yield* surely(ask(Session, () => stripe.checkout.sessions.retrieve(session_id)))
      const price = priceOf(session)
      const { status } = session
      if (price === null || (status !== "open" && status !== "complete" && status !== "expired")) {
        return yield* new ProcessorUnavailable({ message: `Stripe's session ${session_id} is no payment.` })
      }
      return {
        session_id: session.id,
        payment_id: paymentIdOf(session),
        org_id: session.client_reference_id ?? session.metadata?.["org_id"] ?? null,
        status,
        paid: isPaid(session),
        ...price,
        payment_intent: idOf(session.payment_intent),
        customer: idOf(session.customer)
      }
    }),

    savedMethod: Effect.fnUntraced(function* (payment_intent) {
      const intent = yield* surely(intentOf(payment_intent))
      if (intent.setup_future_usage !== "off_session") return null
      const method = yield* Schema.decodeUnknownEffect(Schema.NullishOr(Method))(intent.payment_method).pipe(
        Effect.mapError(() => new ProcessorUnavailable({ message: "Stripe's payment method could not be read." }))
      )
      // Only a method that belongs to a customer can be charged again.
      const customer = idOf(method?.customer)
      if (!method || customer === null) return null
      return { customer, payment_method: method.id, label: labelOf(method) }
    }),

    card: (payment_intent) =>
      intentOf(payment_intent).pipe(
        Effect.map((intent) =>
          Option.match(decodeMethod(intent.payment_method), {
            onNone: () => null,
            onSome: (method) => (method ? cardOf(method) : null)
          })
        ),
        Effect.catchIf(
          (fault) => isMissing(fault),
          () => Effect.succeed(null)
        ),
        surely
      ),

    charge: Effect.fnUntraced(function* (asked) {
      const cents = yield* wholeCents(asked.amount)
      return yield* charged(asked, cents).pipe(
        Effect.catchTags({
          declined: (error) => Effect.succeed(declined(error)),
          refused: () => Effect.succeed<ChargeOutcome>({ _tag: "Declined", message: unusable })
        })
      )
    }),

    findCharge: Effect.fnUntraced(function* (customer, payment_id, since) {
      const created = { gte: secondsOf(since, skewSeconds) }
      const intents = yield* list(Intent, () => stripe.paymentIntents.list({ customer, created, limit: pageMax }))
      const intent = intents.find((one) => paymentIdOf(one) === payment_id)
      return intent === undefined ? null : yield* surely(outcomeOf(intent))
    }),

    paymentOf: (payment_intent) =>
      intentOf(payment_intent).pipe(
        Effect.map(paymentIdOf),
        Effect.catchIf(
          (fault) => isMissing(fault),
          () => Effect.succeed(null)
        ),
        surely
      ),

    reversals: Effect.fnUntraced(function* (payment_intent) {
      const refunds = yield* list(Refund, () => stripe.refunds.list({ payment_intent, limit: pageMax }))
      const disputes = yield* list(Dispute, () => stripe.disputes.list({ payment_intent, limit: pageMax }))
      return [...refunds.flatMap((one) => refundFacts(one)), ...disputes.flatMap((one) => disputeFacts(one))]
    }),

    verify: (body, signature, nowSeconds) =>
      verify(
        {
          webhooks: stripe.webhooks,
          secrets: account.webhookSecrets,
          live: /^(sk|rk)_live_/.test(Redacted.value(account.secretKey))
        },
        body,
        signature,
        nowSeconds
      ),

    eventsSince: Effect.fnUntraced(function* (since) {
      const created = { gte: secondsOf(since, skewSeconds) }
      const events = yield* list(StripeEvent, () =>
        stripe.events.list({ types: [...eventTypes], created, limit: pageMax })
      )
      return events.map(eventOf).toReversed()
    }),

    settledSince: Effect.fnUntraced(function* (since) {
      const created = { gte: secondsOf(since) }
      const sessions = yield* list(Session, () =>
        stripe.checkout.sessions.list({ created, status: "complete", limit: pageMax })
      )
      const intents = yield* list(Intent, () => stripe.paymentIntents.list({ created, limit: pageMax }))
      const settled: Array<SettledPayment> = []
      const told = new Set<string>()
      for (const session of sessions) {
        const payment_id = paymentIdOf(session)
        const price = priceOf(session)
        if (payment_id === null || price === null || !isPaid(session)) continue
        const payment_intent = idOf(session.payment_intent)
        if (payment_intent !== null) told.add(payment_intent)
        const org_id = session.metadata?.["org_id"] ?? null
        settled.push({ payment_id, org_id, session_id: session.id, payment_intent, ...price })
      }
      for (const intent of intents) {
        const payment_id = paymentIdOf(intent)
        if (payment_id === null || intent.status !== "succeeded" || told.has(intent.id)) continue
        settled.push({
          payment_id,
          org_id: intent.metadata?.["org_id"] ?? null,
          session_id: null,
          payment_intent: intent.id,
          amount: ofCents(intent.amount_received ?? intent.amount),
          currency: intent.currency
        })
      }
      return settled
    })
  })
})

/** Dies without the settings of an account: without one, `NoPayments` is the layer to use. */
export const StripePayments: Layer.Layer<Payments, never, Settings> = Layer.effect(
  Payments,
  Effect.gen(function* () {
    const { stripe } = yield* Settings
    return yield* stripe === null ? Effect.die(new Error("STRIPE_SECRET_KEY is not set")) : make(stripe)
  })
)
