/**
 * Verifies that a webhook comes from Stripe, is recent, and is meant for this account.
 *
 * The SDK verifies the signature over the raw body. It accepts times in the future and any header that contains a valid part, so the form of
 * the header and its time window are checked here (measured with stripe 23.1.0).
 */
import { Effect, Option, Redacted, Schema } from "effect"
import type Stripe from "stripe"
import { type ProcessorEvent, SignatureRefused } from "./Payments.ts"
import { eventOf, StripeEvent } from "./StripeEvents.ts"

/** Stripe's own: older than any delivery on its way, shorter than anybody could use a recorded one. */
const windowSeconds = 300
const headerCharsMax = 2_000
/** One per signing secret that the endpoint has; Stripe keeps an old one for a day. */
const signaturesMax = 16

export interface Verification {
  /** The SDK's, which comes when it is needed. */
  readonly webhooks: Stripe["webhooks"]
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** Whether our key is one for real money. */
  readonly live: boolean
}

const refuse = (message: string) => Effect.fail(new SignatureRefused({ message }))

/** The header's time in seconds; null unless it has exactly one, a signature, and nothing strange. */
const timeOf = (header: string): number | null => {
  if (header.length > headerCharsMax) return null
  const parts = header.split(",")
  const time = parts.find((part) => /^t=\d{1,12}$/.test(part))
  const signatures = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
  // Test mode adds a `v0` beside the real one. It proves nothing, and the SDK doesn't look at it.
  const others = parts.filter((part) => /^v0=[0-9a-f]*$/.test(part))
  if (time === undefined) return null
  if (signatures.length === 0 || signatures.length > signaturesMax) return null
  return parts.length === 1 + signatures.length + others.length ? Number(time.slice(2)) : null
}

const decodeFault = Schema.decodeUnknownOption(Schema.Struct({ type: Schema.String }))
const decodeEvent = Schema.decodeUnknownOption(StripeEvent)

const notAnEvent =
  "The signature is right, but the body is no Stripe event: the webhook endpoint must send snapshot events as JSON."

export const verify = Effect.fnUntraced(function* (
  { webhooks, secrets, live }: Verification,
  body: string,
  signature: string | undefined,
  nowSeconds: number
): Effect.fn.Return<ProcessorEvent, SignatureRefused> {
  if (signature === undefined || signature === "") {
    return yield* refuse("There is no Stripe-Signature header: only Stripe may call this address.")
  }
  if (body === "") return yield* refuse("The body is empty: something on the way has taken it.")
  const time = timeOf(signature)
  if (time === null) {
    return yield* refuse("The Stripe-Signature header is malformed: it must have one time and a v1 signature.")
  }
  // The SDK's own window is switched off by calling the message new; ours has two sides, and comes below.
  const opened = (secret: Redacted.Redacted) =>
    Effect.tryPromise({
      try: (): Promise<unknown> =>
        webhooks.constructEventAsync(body, signature, Redacted.value(secret), windowSeconds, undefined, time * 1000),
      catch: (fault) =>
        Option.exists(decodeFault(fault), ({ type }) => type === "StripeSignatureVerificationError")
          ? "signature"
          : "body"
    }).pipe(
      Effect.map((event) => ({ event })),
      Effect.catchIf(
        (fault) => fault === "signature",
        () => Effect.succeed(null)
      )
    )
  for (const secret of secrets) {
    const found = yield* opened(secret).pipe(Effect.catch(() => refuse(notAnEvent)))
    if (found === null) continue
    const age = nowSeconds - time
    if (Math.abs(age) > windowSeconds) {
      return yield* refuse(
        `The message was signed ${Math.abs(age)} seconds ${age < 0 ? "in the future" : "ago"}, and ${windowSeconds} are allowed: ` +
          "it is a repetition, or the database's clock is wrong."
      )
    }
    const event = decodeEvent(found.event)
    if (Option.isNone(event)) return yield* refuse(notAnEvent)
    if (typeof event.value.account === "string") {
      return yield* refuse("The event is about another, connected account: point its endpoint somewhere else.")
    }
    if (event.value.livemode !== live) {
      return yield* refuse(
        live
          ? "The event is of test mode, while STRIPE_SECRET_KEY is a live key: check which endpoint's secret is set."
          : "The event is of live mode, while STRIPE_SECRET_KEY is a test key: check which endpoint's secret is set."
      )
    }
    return eventOf(event.value)
  }
  return yield* refuse(
    "No signature matches: STRIPE_WEBHOOK_SECRET must be this endpoint's signing secret, and the body must arrive unchanged."
  )
})
