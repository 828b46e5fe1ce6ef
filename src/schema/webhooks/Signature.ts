/**
 * The headers of a webhook by the Standard Webhooks specification. The service signs deliveries with them, and `rungate webhooks listen`
 * signs what it forwards, so a receiver verifies both in the same way.
 */
import { Webhook } from "standardwebhooks"

export interface SignedWebhook {
  /** The same for each attempt and for each replay. */
  readonly event_id: string
  readonly body: string
  /** The first is the current one. Each signs, so that a receiver may verify with any of them. */
  readonly secrets: ReadonlyArray<string>
}

/** The secret that these bytes make. They must be random, and 32 of them are enough. */
export const webhookSecret = (bytes: Uint8Array): string => `whsec_${bytes.toBase64()}`

export const webhookHeaders = ({ event_id, body, secrets }: SignedWebhook, at: Date) => ({
  "content-type": "application/json",
  "user-agent": "Rungate-Webhooks/1",
  "webhook-id": event_id,
  "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
  "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(event_id, at, body)).join(" ")
})
