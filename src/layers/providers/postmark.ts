/**
 * Postmark: sends e-mail from the operator's confirmed senders.
 *
 * It has no idempotency key, so a send of unknown outcome must never be repeated. It reports no cost; the price follows the
 * smallest plan, $1.80 per 1,000 messages.
 */
import { emailSend, recipients } from "../../schema/capabilities/email.send.ts"
import { flat } from "../../schema/Pricing.ts"
import { offer, provider } from "../../schema/Provider.ts"
import { match } from "./outcome.ts"
import { number, text } from "./read.ts"
import { isInbox } from "./senders.ts"
import { refusal, trouble, unreadable } from "./trouble.ts"

/** The account itself may not send: bad token, sender not confirmed, no credits left, not approved. */
const accountCodes = new Set([10, 400, 401, 405, 412])

const send = offer(emailSend, {
  // $0.0018 × 1.2
  price: flat("0.00216"),
  note: "Plans are paid by the month; about $0.00125 to $0.0018 per message.",
  wraps: [{ method: "POST", path: "/email" }],
  // An inbox is an address of another provider.
  serves: (input) => !isInbox(input.from),
  through: "sender",
  request: (input) => ({
    method: "POST",
    path: "/email",
    body: {
      From: input.from,
      To: recipients(input.to).join(","),
      Subject: input.subject,
      ...(input.html === undefined ? {} : { HtmlBody: input.html }),
      ...(input.text === undefined ? {} : { TextBody: input.text }),
      ...(input.cc === undefined ? {} : { Cc: input.cc.join(",") }),
      ...(input.bcc === undefined ? {} : { Bcc: input.bcc.join(",") }),
      ...(input.reply_to === undefined ? {} : { ReplyTo: input.reply_to }),
      ...(input.tags === undefined ? {} : { Metadata: input.tags }),
      ...(input.headers === undefined
        ? {}
        : { Headers: Object.entries(input.headers).map(([Name, Value]) => ({ Name, Value })) }),
      MessageStream: "outbound"
    }
  }),
  response: (reply, input) => {
    if ((number(reply.body, "ErrorCode") ?? 0) !== 0) return refusal(reply, "provider_error")
    const id = text(reply.body, "MessageID")
    if (id === null) return unreadable("MessageID")
    return match({
      message_id: id,
      thread_id: null,
      accepted: [...recipients(input.to)],
      provider_status: text(reply.body, "Message")
    })
  }
})

export const postmark = provider({
  slug: "postmark",
  title: "Postmark",
  homepage: "https://postmarkapp.com",
  base_url: "https://api.postmarkapp.com",
  auth: { kind: "header", name: "X-Postmark-Server-Token" },
  headers: { Accept: "application/json" },
  concurrency: 10,
  timeoutMillis: 20_000,
  trouble: trouble({
    reason: (reply) => (accountCodes.has(number(reply.body, "ErrorCode") ?? 0) ? "provider_account" : undefined)
  }),
  offers: [send]
})
