/**
 * Payments with Stripe, through its SDK.
 *
 * Every call that could charge twice carries our `payment_id` as idempotency key and in its metadata. A retry is safe for a day. After
 * that, a look-up finds the outcome. The schemas of StripeObjects.ts validate the answers.
 */
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import type Stripe from "stripe"
import { centsOf, type MicroUsd, ofCents } from "../../schema/money/Money.ts"
import {
  type ChargeOutcome,
  type NewCharge,
  type NewCheckout,
  Payments,
  ProcessorUnavailable,
  type SettledPayment
} from "./Payments.ts"
import { Settings, type StripeAccount } from "../platform/Settings.ts"
import { eventOf, eventTypes, StripeEvent } from "./StripeEvents.ts"
import { type Fault, isMissing, orUnavailable, request } from "./StripeFaults.ts"
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
  authenticationRequired
} from "./StripeObjects.ts"
import { verify } from "./StripeSignature.ts"

/** A bank takes some seconds for a charge. With the retry, a customer waits at most twice this long. */
const timeoutMillis = 15_000
/** Retries by the SDK, with the same idempotency key. PaymentWorker makes further attempts later. */
const retriesMax = 1
const pageMax = 100
/** More than a month of events of a busy account. The limit bounds memory. */
const listedMax = 50_000
/** Tolerated difference between Stripe's clock and the database's. */
const skewSeconds = 300

const unusableMessage = "The saved payment method can't be charged any more. Top up once through the checkout page."

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
    // Stripe's API never redirects. Following a redirect could send the key to another host.
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

/** Dies on fractions of a cent. The HTTP API accepts whole cents only, so they would be a bug. */
const wholeCents = (amount: MicroUsd): Effect.Effect<number> => {
  const cents = centsOf(amount)
  return cents === null ? Effect.die(new Error("a payment must be a whole number of cents")) : Effect.succeed(cents)
}

/** Reads all pages. Stops at one object more than `listedMax`, so that the caller sees the excess. */
const readAllPages = async (pages: Stripe.ApiListPromise<unknown>) => {
  const objects: Array<unknown> = []
  await pages.autoPagingEach((object) => objects.push(object) <= listedMax)
  return objects
}

const secondsOf = (date: Date, slack = 0) => Math.floor(date.getTime() / 1000) - slack

/** `account` is the one of now: a reload may replace it. */
const make = Effect.fnUntraced(function* (account: () => StripeAccount) {
  // Loaded only here, because the SDK takes 15 ms to load and the sandbox does not need it.
  const { default: SDK } = yield* Effect.promise(() => import("stripe"))
  let cached = { of: account(), client: clientOf(SDK, account()) }
  const stripe = () => {
    const now = account()
    if (cached.of !== now) cached = { of: now, client: clientOf(SDK, now) }
    return cached.client
  }

  const list = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, pages: () => Stripe.ApiListPromise<unknown>) =>
    orUnavailable(request(Schema.Array(schema), () => readAllPages(pages()))).pipe(
      Effect.filterOrFail(
        (objects) => objects.length <= listedMax,
        () =>
          new ProcessorUnavailable({
            message: `Stripe lists more than ${listedMax} objects. Choose a shorter period.`
          })
      )
    )
  const intentOf = (id: string) =>
    request(Intent, () => stripe().paymentIntents.retrieve(id, { expand: ["payment_method"] }))

  const openSession = (checkout: NewCheckout, cents: number, customer: string | null, idempotencyKey: string) => {
    const metadata = { payment_id: checkout.payment_id, org_id: checkout.org_id }
    return request(Session, () =>
      stripe().checkout.sessions.create(
        {
          mode: "payment",
          line_items: [
            {
              quantity: 1,
              price_data: { currency: "usd", unit_amount: cents, product_data: { name: "Rungate credit" } }
            }
          ],
          client_reference_id: checkout.org_id,
          metadata,
          payment_intent_data: { metadata, setup_future_usage: "off_session" },
          // The wallet is in dollars, so payments, refunds and disputes must be in dollars too.
          adaptive_pricing: { enabled: false },
          success_url: checkout.success_url,
          cancel_url: checkout.cancel_url,
          ...(customer === null ? { customer_creation: "always" } : { customer })
        },
        { idempotencyKey }
      )
    )
  }

  /** The outcome of an intent. Cancels one that waits for the customer: nobody would confirm it, and it must not succeed later. */
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
        return Effect.succeed(declined(last_payment_error ?? authenticationRequired))
      case "requires_payment_method":
        return Effect.succeed(declined(last_payment_error))
      default:
        if (!mayCancel) {
          return Effect.fail(
            new ProcessorUnavailable({
              message: `A charge is still open at Stripe and can't be cancelled (${payment_intent}).`
            })
          )
        }
        return request(Intent, () => stripe().paymentIntents.cancel(payment_intent)).pipe(
          // Stripe refuses to cancel an intent that has ended. So read its final state.
          Effect.catchIf(
            (fault) => fault._tag === "refused",
            () => intentOf(payment_intent)
          ),
          Effect.flatMap((ended) => outcomeOf(ended, false))
        )
    }
  }

  const createCharge = (charge: NewCharge, cents: number) =>
    request(Intent, () =>
      stripe().paymentIntents.create(
        {
          amount: cents,
          currency: "usd",
          customer: charge.customer,
          payment_method: charge.payment_method,
          off_session: true,
          confirm: true,
          description: "Rungate credit",
          metadata: { payment_id: charge.payment_id, org_id: charge.org_id }
        },
        { idempotencyKey: charge.payment_id }
      )
    ).pipe(Effect.flatMap((intent) => outcomeOf(intent)))

  return Payments.of({
    processor: "stripe",

    checkout: Effect.fnUntraced(function* (checkout) {
      const cents = yield* wholeCents(checkout.amount)
      const { customer, payment_id } = checkout
      const session = yield* orUnavailable(
        openSession(checkout, cents, customer, payment_id).pipe(
          // If the customer was deleted at Stripe, the organization pays as a new customer.
          Effect.catchIf(
            (fault) => customer !== null && isMissing(fault, "customer"),
            () => openSession(checkout, cents, null, `${payment_id}:anew`)
          )
        )
      )
      if (!session.url || !session.expires_at) {
        return yield* new ProcessorUnavailable({ message: "Stripe's answer has no checkout page." })
      }
      return { session_id: session.id, url: session.url, expires_at: new Date(session.expires_at * 1000) }
    }),

    session: Effect.fnUntraced(function* (session_id) {
      const session = yield* orUnavailable(request(Session, () => stripe().checkout.sessions.retrieve(session_id)))
      const price = priceOf(session)
      const { status } = session
      if (price === null || (status !== "open" && status !== "complete" && status !== "expired")) {
        return yield* new ProcessorUnavailable({ message: `Stripe's session ${session_id} is not a payment.` })
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
      const intent = yield* orUnavailable(intentOf(payment_intent))
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
        orUnavailable
      ),

    charge: Effect.fnUntraced(function* (charge) {
      const cents = yield* wholeCents(charge.amount)
      return yield* createCharge(charge, cents).pipe(
        Effect.catchTags({
          declined: (error) => Effect.succeed(declined(error)),
          refused: () => Effect.succeed<ChargeOutcome>({ _tag: "Declined", message: unusableMessage })
        })
      )
    }),

    findCharge: Effect.fnUntraced(function* (customer, payment_id, since) {
      const created = { gte: secondsOf(since, skewSeconds) }
      const intents = yield* list(Intent, () => stripe().paymentIntents.list({ customer, created, limit: pageMax }))
      const intent = intents.find((one) => paymentIdOf(one) === payment_id)
      return intent === undefined ? null : yield* orUnavailable(outcomeOf(intent))
    }),

    paymentOf: (payment_intent) =>
      intentOf(payment_intent).pipe(
        Effect.map(paymentIdOf),
        Effect.catchIf(
          (fault) => isMissing(fault),
          () => Effect.succeed(null)
        ),
        orUnavailable
      ),

    reversals: Effect.fnUntraced(function* (payment_intent) {
      const refunds = yield* list(Refund, () => stripe().refunds.list({ payment_intent, limit: pageMax }))
      const disputes = yield* list(Dispute, () => stripe().disputes.list({ payment_intent, limit: pageMax }))
      return [...refunds.flatMap((one) => refundFacts(one)), ...disputes.flatMap((one) => disputeFacts(one))]
    }),

    verify: (body, signature, nowSeconds) =>
      verify(
        {
          webhooks: stripe().webhooks,
          secrets: account().webhookSecrets,
          live: /^(sk|rk)_live_/.test(Redacted.value(account().secretKey))
        },
        body,
        signature,
        nowSeconds
      ),

    eventsSince: Effect.fnUntraced(function* (since) {
      const created = { gte: secondsOf(since, skewSeconds) }
      const events = yield* list(StripeEvent, () =>
        stripe().events.list({ types: [...eventTypes], created, limit: pageMax })
      )
      return events.map(eventOf).toReversed()
    }),

    settledSince: Effect.fnUntraced(function* (since) {
      const created = { gte: secondsOf(since) }
      const sessions = yield* list(Session, () =>
        stripe().checkout.sessions.list({ created, status: "complete", limit: pageMax })
      )
      const intents = yield* list(Intent, () => stripe().paymentIntents.list({ created, limit: pageMax }))
      const settled: Array<SettledPayment> = []
      const sessionIntents = new Set<string>()
      for (const session of sessions) {
        const payment_id = paymentIdOf(session)
        const price = priceOf(session)
        if (payment_id === null || price === null || !isPaid(session)) continue
        const payment_intent = idOf(session.payment_intent)
        if (payment_intent !== null) sessionIntents.add(payment_intent)
        const org_id = session.metadata?.["org_id"] ?? null
        settled.push({ payment_id, org_id, session_id: session.id, payment_intent, ...price })
      }
      for (const intent of intents) {
        const payment_id = paymentIdOf(intent)
        if (payment_id === null || intent.status !== "succeeded" || sessionIntents.has(intent.id)) continue
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

/** Dies without Stripe settings. Use `NoPayments` then. */
export const StripePayments: Layer.Layer<Payments, never, Settings> = Layer.effect(
  Payments,
  Effect.gen(function* () {
    const { current } = yield* Settings
    const { stripe } = current()
    if (stripe === null) return yield* Effect.die(new Error("STRIPE_SECRET_KEY is not set"))
    // A reload can't remove the account (Settings.ts).
    return yield* make(() => current().stripe ?? stripe)
  })
)
