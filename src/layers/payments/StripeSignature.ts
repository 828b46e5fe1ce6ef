/**
 * Verifies that a webhook comes from Stripe, is recent, and is meant for this account.
 *
 * The SDK verifies the signature over the raw body. It accepts timestamps in the future and any header that contains a valid part.
 * So this module checks the header's format and the time window itself (measured with stripe 23.1.0).
 */
import { Effect, Option, Redacted, Schema } from "effect"
import type Stripe from "stripe"
import { type ProcessorEvent, SignatureRefused } from "./Payments.ts"
import { eventOf, StripeEvent } from "./StripeEvents.ts"

/** Stripe's own default: long enough for every delivery, short enough against replays of recorded messages. */
const windowSeconds = 300
const headerCharsMax = 2_000
/** Stripe sends one signature per signing secret of the endpoint, and keeps a rolled secret for a day. */
const signaturesMax = 16

export interface Verification {
  /** The SDK's verifier, passed in because the SDK is loaded lazily. */
  readonly webhooks: Stripe["webhooks"]
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** True if STRIPE_SECRET_KEY is a live key. */
  readonly live: boolean
}

const refuse = (message: string) => Effect.fail(new SignatureRefused({ message }))

/** The header's timestamp in seconds. Null unless the header has exactly one timestamp, at least one signature, and nothing unknown. */
const timeOf = (header: string): number | null => {
  if (header.length > headerCharsMax) return null
  const parts = header.split(",")
  const time = parts.find((part) => /^t=\d{1,12}$/.test(part))
  const signatures = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
  // Test mode adds a `v0` signature. It proves nothing, and the SDK ignores it.
  const others = parts.filter((part) => /^v0=[0-9a-f]*$/.test(part))
  if (time === undefined) return null
  if (signatures.length === 0 || signatures.length > signaturesMax) return null
  return parts.length === 1 + signatures.length + others.length ? Number(time.slice(2)) : null
}

const decodeFault = Schema.decodeUnknownOption(Schema.Struct({ type: Schema.String }))
const decodeEvent = Schema.decodeUnknownOption(StripeEvent)

const notAnEvent =
  "The signature is valid, but the body is not a Stripe event. The webhook endpoint must send snapshot events as JSON."

export const verify = Effect.fnUntraced(function* (
  { webhooks, secrets, live }: Verification,
  body: string,
  signature: string | undefined,
  nowSeconds: number
): Effect.fn.Return<ProcessorEvent, SignatureRefused> {
  if (signature === undefined || signature === "") {
    return yield* refuse("The Stripe-Signature header is missing. Only Stripe may call this address.")
  }
  if (body === "") return yield* refuse("The body is empty. Check whether a proxy in front of the service removes it.")
  const time = timeOf(signature)
  if (time === null) {
    return yield* refuse("The Stripe-Signature header is malformed. It must have one time and a v1 signature.")
  }
  // Passing the header's own time as the current time turns off the SDK's time window. The check below also covers the future.
  const verifyWith = (secret: Redacted.Redacted) =>
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
    const verified = yield* verifyWith(secret).pipe(Effect.catch(() => refuse(notAnEvent)))
    if (verified === null) continue
    const age = nowSeconds - time
    if (Math.abs(age) > windowSeconds) {
      return yield* refuse(
        `The message was signed ${Math.abs(age)} seconds ${age < 0 ? "in the future" : "ago"}, and ${windowSeconds} are allowed. ` +
          "Either it is a replay, or the database's clock is wrong."
      )
    }
    const event = decodeEvent(verified.event)
    if (Option.isNone(event)) return yield* refuse(notAnEvent)
    if (typeof event.value.account === "string") {
      return yield* refuse(
        "The event is about a connected account. Set the endpoint at Stripe to events of your own account."
      )
    }
    if (event.value.livemode !== live) {
      return yield* refuse(
        live
          ? "The event is from test mode, but STRIPE_SECRET_KEY is a live key. Set STRIPE_WEBHOOK_SECRET to the live endpoint's secret."
          : "The event is from live mode, but STRIPE_SECRET_KEY is a test key. Set STRIPE_WEBHOOK_SECRET to the test endpoint's secret."
      )
    }
    return eventOf(event.value)
  }
  return yield* refuse(
    "No signature matches. STRIPE_WEBHOOK_SECRET must be this endpoint's signing secret, and the body must arrive unchanged."
  )
})
