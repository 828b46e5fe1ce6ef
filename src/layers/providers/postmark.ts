/**
 * Adapter for Postmark: sends e-mail from the operator's confirmed senders.
 *
 * Postmark has no idempotency keys, so a send of unknown outcome must never be repeated. The run id is sent as metadata, which recipients
 * don't see, so that such a send can be looked up. Postmark reports no cost. The price is that of the smallest plan, $1.80 per 1,000
 * messages.
 */
import { withUnsubscribe } from "../../schema/guards/Unsubscribe.ts"
import { emailSend, recipients } from "../../schema/capabilities/email.send.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { plainAddress } from "../../schema/mail/Bounce.ts"
import { offer, provider, type Reply, suppressed } from "../../schema/catalog/Provider.ts"
import { basicAuthentication, runIn } from "./kit/events.ts"
import { listed, namesRun, notListed, runField } from "./kit/listed.ts"
import { httpErrors, match, refusal, unreadable } from "./kit/outcome.ts"
import { at, isRecord, list, number, text, whole } from "./kit/read.ts"
import { isInbox } from "./kit/senders.ts"
import { defined } from "../../schema/defined.ts"

/** Error codes of the operator's account: bad token, sender not confirmed, no credits left, not approved. */
const accountCodes = new Set([10, 400, 401, 405, 412])

/** All recipients are inactive: after a hard bounce, a spam complaint, an unsubscribe, or by hand. */
const inactiveRecipient = 406

const title = "Postmark"
/** Metadata fields that Postmark accepts per message. */
const metadataMax = 10

/** One message has at most 50 recipients at Postmark. */
const bouncesMax = 50
/** The address does not exist. Other types, such as a full mailbox, may pass. */
const permanentBounces = new Set(["HardBounce", "BadEmailAddress"])

type Tags = Readonly<Record<string, string>>

/** True if the run id can be added to the caller's tags: they are not too many, and none has the field's name. */
const hasRoom = (tags: Tags): boolean => Object.keys(tags).length < metadataMax && !namesRun(tags)
const metadataOf = (tags: Tags, run_id: string): Tags => (hasRoom(tags) ? { ...tags, [runField]: run_id } : tags)

const headersOf = (headers: Tags | undefined) =>
  headers === undefined ? {} : { Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })) }

/** True if the first message in the answer belongs to another run. Then Postmark ignored the filter by run id. */
const isOthers = (reply: Reply, run_id: string): boolean => {
  const metadata = at(reply.body, "Messages", 0, "Metadata")
  if (!isRecord(metadata)) return false
  return !Object.entries(metadata).some(([name, value]) => name.toLowerCase() === runField && value === run_id)
}

const send = offer(emailSend, {
  price: inCredits.flat("1"),
  note: "Plans are paid by the month; about $0.00125 to $0.0018 per message, which counts as a credit.",
  wraps: ["POST /email"],
  // Addresses of inboxes belong to another provider.
  serves: (input) => !isInbox(input.from),
  through: "sender",
  request: (input, { run_id, unsubscribe }) => ({
    body: {
      From: input.from,
      To: recipients(input.to).join(","),
      Subject: input.subject,
      ...defined({
        HtmlBody: input.html,
        TextBody: input.text,
        Cc: input.cc?.join(","),
        Bcc: input.bcc?.join(","),
        ReplyTo: input.reply_to
      }),
      Metadata: metadataOf(input.tags ?? {}, run_id),
      ...headersOf(withUnsubscribe(input.headers, unsubscribe)),
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
  },
  reconcile: {
    marks: ({ tags = {} }) => hasRoom(tags),
    call: (_input, { run_id }) => ({
      method: "GET",
      path: "/messages/outbound",
      query: { count: 1, offset: 0, [`metadata_${runField}`]: run_id }
    }),
    finding: (reply, _input, { run_id, age_seconds }) => {
      const total = whole(reply.body, "TotalCount")
      if (total === null || total < 0) return unreadable("TotalCount")
      if (total === 0) return notListed(title, age_seconds)
      return isOthers(reply, run_id) ? unreadable("message of this run") : listed(title)
    }
  },
  bounce: {
    rawMessageId: (result) => text(result, "MessageID"),
    call: ({ message_id }) => ({
      method: "GET",
      path: "/bounces",
      query: { count: bouncesMax, offset: 0, messageID: message_id }
    }),
    finding: (reply, { message_id, address }) => {
      const bounces = list(reply.body, "Bounces")
      if (bounces === null) return unreadable("Bounces")
      // Postmark ignores a filter that it does not know.
      const own = bounces.filter(
        (one) => text(one, "MessageID") === message_id && plainAddress(text(one, "Email") ?? "") === address
      )
      const permanent = own.map((one) => text(one, "Type") ?? "").find((type) => permanentBounces.has(type))
      if (permanent !== undefined) return { _tag: "Bounce", bounced: true, note: `${title} reports ${permanent}` }
      const other = own.map((one) => text(one, "Type")).find((type) => type !== null)
      return { _tag: "Bounce", bounced: false, note: `${title} reports ${other ?? "no bounce"}` }
    },
    events: {
      // Postmark signs nothing.
      isGenuine: basicAuthentication,
      bounced: (body) => {
        if (text(body, "RecordType") !== "Bounce" || !permanentBounces.has(text(body, "Type") ?? "")) return null
        const [run_id, message_id] = [runIn(at(body, "Metadata")), text(body, "MessageID")]
        const address = text(body, "Email")
        if (run_id === null || message_id === null || address === null) return null
        return { run_id, message_id, address: plainAddress(address) }
      }
    }
  }
})

export const postmark = provider({
  slug: "postmark",
  title,
  homepage: "https://postmarkapp.com",
  base_url: "https://api.postmarkapp.com",
  auth: { kind: "header", name: "X-Postmark-Server-Token" },
  credit: "0.0018",
  headers: { Accept: "application/json" },
  concurrency: 10,
  timeoutMillis: 20_000,
  httpErrors: httpErrors({
    reason: ({ body }) => {
      const code = number(body, "ErrorCode") ?? 0
      return code === inactiveRecipient ? suppressed : accountCodes.has(code) ? "provider_account" : undefined
    }
  }),
  offers: [send]
})
