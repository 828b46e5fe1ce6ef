/** The text of the e-mail about a webhook endpoint that was paused. It names the endpoint's id, and no text of a caller. */
import { Schema } from "effect"
import type { Written } from "../accounts/AccountMail.ts"

export const pauseMailKinds = ["webhook.paused"] as const

export const PausedWebhook = Schema.Struct({
  endpoint_id: Schema.String,
  reason: Schema.Literals(["gone", "failing"])
})
export type PausedWebhook = typeof PausedWebhook.Type
const decode = Schema.decodeUnknownSync(PausedWebhook)

const reasons = {
  gone: "Its receiver answered HTTP 410, which asks for no more webhooks.",
  failing: "Its receiver has accepted nothing for two days, and a delivery was given up."
} as const

/** `data` is a PausedWebhook. */
export const pauseMail = (address: string, data: unknown): Written => {
  const { endpoint_id, reason } = decode(data)
  return {
    subject: "A webhook endpoint was paused",
    text: `${[
      `Rungate at ${address} has paused the webhook endpoint ${endpoint_id}. ${reasons[reason]}`,
      `Read the answers of the receiver with GET /v1/webhook-endpoints/${endpoint_id}/deliveries or rungate webhooks deliveries ${endpoint_id}.`,
      `When the receiver works again, resume the endpoint with PATCH /v1/webhook-endpoints/${endpoint_id} {"status": "active"} or rungate webhooks resume ${endpoint_id}. It continues with the events since the pause, which are kept for 30 days. Send the failed ones again with rungate webhooks replay ${endpoint_id} --from.`
    ].join("\n\n")}\n`
  }
}
