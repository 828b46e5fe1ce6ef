/**
 * Adapter for Resend: sends e-mail from the operator's verified domains.
 *
 * The run id is the idempotency key, so a repeated request sends one message. It is also a tag, which recipients don't see and Resend's
 * events give back. Resend reports no cost. The price is the published overage rate, $0.90 per 1,000 messages, of which one counts as a
 * credit. Resend's list of sent e-mails has no filter by tag or key, so a send of unknown outcome can't be looked up.
 */
import { withUnsubscribe } from "../../schema/guards/Unsubscribe.ts"
import { emailSend, recipients } from "../../schema/capabilities/email.send.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { plainAddress } from "../../schema/mail/Bounce.ts"
import { offer, provider } from "../../schema/catalog/Provider.ts"
import { runIn, standardWebhook } from "./kit/events.ts"
import { namesRun, runField } from "./kit/listed.ts"
import { httpErrors, match, unreadable } from "./kit/outcome.ts"
import { at, segmentOf, text, texts } from "./kit/read.ts"
import { isInbox } from "./kit/senders.ts"
import { defined } from "../../schema/defined.ts"

const title = "Resend"

type Tags = Readonly<Record<string, string>>
/** The caller's tags with the run id, which Resend's events give back. A tag of the caller with that name stays as it is. */
const tagsOf = (tags: Tags, run_id: string): Tags => (namesRun(tags) ? tags : { ...tags, [runField]: run_id })

const send = offer(emailSend, {
  price: inCredits.flat("1"),
  note: "Plans are paid by the month; about $0.0004 to $0.0009 per message, which counts as a credit.",
  wraps: ["POST /emails"],
  // Addresses of inboxes belong to another provider.
  serves: (input) => !isInbox(input.from),
  through: "sender",
  request: (input, context) => ({
    headers: { "Idempotency-Key": context.run_id },
    body: {
      from: input.from,
      to: recipients(input.to),
      subject: input.subject,
      ...defined({
        text: input.text,
        html: input.html,
        cc: input.cc,
        bcc: input.bcc,
        reply_to: input.reply_to,
        headers: withUnsubscribe(input.headers, context.unsubscribe)
      }),
      tags: Object.entries(tagsOf(input.tags ?? {}, context.run_id)).map(([name, value]) => ({ name, value }))
    }
  }),
  response: (reply, input) => {
    const id = text(reply.body, "id")
    if (id === null) return unreadable("id")
    return match({ message_id: id, thread_id: null, accepted: [...recipients(input.to)], provider_status: null })
  },
  bounce: {
    rawMessageId: (result) => text(result, "id"),
    call: ({ message_id }) => ({ method: "GET", path: `/emails/${segmentOf(message_id)}` }),
    finding: ({ body }, { message_id, address }) => {
      const event = text(body, "last_event")
      if (event === null || text(body, "id") !== message_id) return unreadable("message with its last_event")
      const everybody = ["to", "cc", "bcc"].flatMap((field) => texts(body, field) ?? [])
      // Resend tells one status for all recipients of a message.
      const isOnly = everybody.length === 1 && everybody.every((one) => plainAddress(one) === address)
      if (!isOnly) return { _tag: "Bounce", bounced: false, note: `${title} lists no message to this address alone` }
      return { _tag: "Bounce", bounced: event === "bounced", note: `${title} says of the message: ${event}` }
    },
    events: {
      isGenuine: standardWebhook("svix"),
      bounced: (body) => {
        if (text(body, "type") !== "email.bounced" || text(body, "data", "bounce", "type") !== "Permanent") return null
        const [run_id, message_id] = [runIn(at(body, "data", "tags")), text(body, "data", "email_id")]
        const [address, ...others] = texts(body, "data", "to") ?? []
        if (run_id === null || message_id === null || address === undefined || others.length > 0) return null
        return { run_id, message_id, address: plainAddress(address) }
      }
    }
  }
})

export const resend = provider({
  slug: "resend",
  title,
  homepage: "https://resend.com",
  base_url: "https://api.resend.com",
  auth: { kind: "bearer" },
  credit: "0.0009",
  // Two requests per second, unless Resend raised the account's limit.
  concurrency: 2,
  timeoutMillis: 20_000,
  httpErrors: httpErrors({
    // An exhausted plan is a 429 too. It is an account error, because a later retry would not help.
    reason: (reply) => (text(reply.body, "name")?.endsWith("quota_exceeded") === true ? "provider_account" : undefined)
  }),
  offers: [send]
})
