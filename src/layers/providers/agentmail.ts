/**
 * Adapter for AgentMail: creates inboxes, reads their messages, and sends e-mail from them. No raw endpoints.
 *
 * The run id is the idempotency key, so a repeated request creates or sends only once. It is also a label on each sent message, so that
 * a send can be looked up. The provider reports no cost, so prices are its published prices of single requests.
 */
import type { Schema } from "effect"
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { emailInboxCreate, type Inbox } from "../../schema/capabilities/email.inbox_create.ts"
import { emailInboxList } from "../../schema/capabilities/email.inbox_list.ts"
import { emailMessages, emailMessagesDefaultLimit, type Message } from "../../schema/capabilities/email.messages.ts"
import { withUnsubscribe } from "../../schema/guards/Unsubscribe.ts"
import { emailSend, recipients } from "../../schema/capabilities/email.send.ts"
import { inUsd } from "../../schema/money/Rates.ts"
import {
  type Call,
  type Failure,
  offer,
  type Outcome,
  provider,
  recorded,
  type Reply
} from "../../schema/catalog/Provider.ts"
import { accepts, issue, redeem } from "./kit/cursor.ts"
import { listed, namesRun, notListed, runField } from "./kit/listed.ts"
import { httpErrors, match, refusal, unreadable } from "./kit/outcome.ts"
import { entryIn, list, segmentOf, text, texts, whole } from "./kit/read.ts"
import { isInbox, senderAddress } from "./kit/senders.ts"
import { defined } from "../../schema/defined.ts"

const slug = "agentmail"
const title = "AgentMail"
const note = "The provider's published list of prices for single requests."

const inboxOf = (value: unknown): Inbox => {
  const inbox_id = text(value, "inbox_id")
  return {
    inbox_id,
    // An inbox's id is its e-mail address.
    address: text(value, "email") ?? (inbox_id?.includes("@") === true ? inbox_id : null),
    display_name: text(value, "display_name"),
    created_at: text(value, "created_at")
  }
}

const create = offer(emailInboxCreate, {
  price: inUsd.flat("2.00"),
  note,
  wraps: [],
  request: (input, context) => ({
    method: "POST",
    path: "/v0/inboxes",
    body: { ...input, client_id: context.run_id }
  }),
  response: (reply) => {
    if (reply.status === 404) return refusal(reply)
    const inbox = inboxOf(reply.body)
    return inbox.inbox_id === null ? unreadable("inbox_id") : match(inbox)
  }
})

const inboxes = recorded(emailInboxList, {
  price: inUsd.flat("0"),
  note: `${note} Listed from the service's own records.`,
  wraps: []
})

const inboxPath = (inbox_id: string): string => `/v0/inboxes/${segmentOf(inbox_id)}/messages`

const messageOf = (value: unknown): Message => ({
  message_id: text(value, "message_id"),
  thread_id: text(value, "thread_id"),
  from: text(value, "from"),
  to: texts(value, "to") ?? [],
  subject: text(value, "subject"),
  preview: text(value, "preview"),
  // The text without quoted earlier messages, if the provider could separate them.
  text: text(value, "extracted_text") ?? text(value, "text"),
  received_at: text(value, "timestamp") ?? text(value, "created_at"),
  labels: texts(value, "labels") ?? [],
  attachments: (list(value, "attachments") ?? []).map((one) => ({
    attachment_id: text(one, "attachment_id"),
    filename: text(one, "filename"),
    content_type: text(one, "content_type"),
    size_bytes: whole(one, "size")
  }))
})

/** The listed messages in order, and how many of them were fetched. The list has no texts, so each message is fetched by itself. */
interface Reading {
  readonly items: ReadonlyArray<Message>
  readonly read: number
  readonly next: string | null
}

const readingOf = (state: Schema.Json): Reading => ({
  items: (list(state, "items") ?? []).map((one) => ({
    ...messageOf(one),
    received_at: text(one, "received_at"),
    attachments: (list(one, "attachments") ?? []).map((part) => ({
      attachment_id: text(part, "attachment_id"),
      filename: text(part, "filename"),
      content_type: text(part, "content_type"),
      size_bytes: whole(part, "size_bytes")
    }))
  })),
  read: whole(state, "read") ?? 0,
  next: text(state, "next")
})

interface InboxMessages {
  readonly items: ReadonlyArray<Message>
  readonly total: number | null
  readonly next_cursor: string | null
}

const delivered = ({ items, next }: Reading) => match({ items, total: null, next_cursor: issue(slug, next) })

const readOn = (reading: Reading): Outcome<InboxMessages> => {
  const unread = reading.items.findIndex((one, index) => index >= reading.read && one.message_id !== null)
  if (unread === -1) return delivered(reading)
  return { _tag: "Again", state: { ...reading, read: unread }, afterMillis: 0, job: false }
}

const messageCall = (state: Schema.Json, input: InputOf<typeof emailMessages>): Call => {
  const { items, read } = readingOf(state)
  return { method: "GET", path: `${inboxPath(input.inbox_id)}/${segmentOf(items[read]?.message_id ?? "")}` }
}

const messages = offer(emailMessages, {
  price: inUsd.flat("0"),
  note: `${note} Reading is free. Each message needs its own request.`,
  wraps: [],
  serves: (input) => accepts(slug, input.cursor),
  request: (input) => ({
    method: "GET",
    path: inboxPath(input.inbox_id),
    query: {
      limit: input.limit ?? emailMessagesDefaultLimit,
      page_token: redeem(slug, input.cursor),
      labels: input.unread_only === true ? ["unread"] : undefined,
      after: input.since
    }
  }),
  next: messageCall,
  response: (reply, input, state) => {
    if (state === null) {
      if (reply.status === 404) return refusal(reply)
      const listed = list(reply.body, "messages")
      if (listed === null) return unreadable("messages")
      const items = listed.slice(0, input.limit ?? emailMessagesDefaultLimit).map(messageOf)
      return readOn({ items, read: 0, next: text(reply.body, "next_page_token") })
    }
    const before = readingOf(state)
    // The message was deleted after it was listed.
    const gone = reply.status === 404 && text(reply.body, "code") === "not_found"
    if (!gone && (reply.status === 404 || text(reply.body, "message_id") === null)) return refusal(reply)
    const items = before.items.map((one, index) => (index === before.read && !gone ? messageOf(reply.body) : one))
    return readOn({ ...before, items, read: before.read + 1 })
  },
  timeoutMillis: 60_000
})

/** The provider stores labels in lower case. Run ids are lower case already. */
const runLabel = (run_id: string) => `${runField}:${run_id}`
const isMarked = (tags: Readonly<Record<string, string>>) => !namesRun(tags)
const labelsOf = (tags: Readonly<Record<string, string>>, run_id: string): ReadonlyArray<string> => [
  ...Object.entries(tags).map(([name, value]) => `${name}:${value}`),
  ...(isMarked(tags) ? [runLabel(run_id)] : [])
]

const send = offer(emailSend, {
  price: inUsd.flat("0.01"),
  note,
  wraps: [],
  // Only inboxes of this provider. Other providers send from other addresses.
  serves: (input) => isInbox(input.from),
  through: "inbox",
  request: (input, context) => ({
    method: "POST",
    path: `${inboxPath(senderAddress(input.from))}/send`,
    headers: { "Idempotency-Key": context.run_id },
    body: {
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
      labels: labelsOf(input.tags ?? {}, context.run_id)
    }
  }),
  response: (reply, input) => {
    if (reply.status === 404) return refusal(reply)
    const message_id = text(reply.body, "message_id")
    if (message_id === null) return unreadable("message_id")
    return match({
      message_id,
      thread_id: text(reply.body, "thread_id"),
      accepted: [...recipients(input.to)],
      provider_status: null
    })
  },
  reconcile: {
    marks: ({ tags = {} }) => isMarked(tags),
    call: (input, { run_id }) => ({
      method: "GET",
      path: inboxPath(senderAddress(input.from)),
      query: { limit: 1, labels: [runLabel(run_id)] }
    }),
    finding: (reply, _input, { run_id, age_seconds }) => {
      const messages = list(reply.body, "messages")
      // The inbox was deleted together with its messages.
      if (reply.status === 404 || messages === null) return refusal(reply)
      if (messages.length === 0) return notListed(title, age_seconds)
      const isOurs = texts(messages[0], "labels")?.includes(runLabel(run_id)) === true
      return isOurs ? listed(title) : unreadable("message of this run")
    }
  }
})

/** Error codes that reject the message. Their HTTP statuses would otherwise blame the operator's account. */
const reasons: Readonly<Record<string, Failure["reason"]>> = {
  message_rejected: "provider_error",
  domain_not_verified: "provider_error",
  resource_taken: "provider_error",
  already_exists: "provider_error",
  limit_exceeded: "provider_account",
  rate_limit_exceeded: "provider_rate_limited"
}

export const agentmail = provider({
  slug,
  title,
  homepage: "https://agentmail.to",
  base_url: "https://api.agentmail.to",
  auth: { kind: "bearer" },
  excluded:
    "Inboxes belong to an organization; use email.inbox_create, email.inbox_list, email.messages or email.send.",
  concurrency: 10,
  timeoutMillis: 20_000,
  httpErrors: httpErrors({
    // The offers read 404 themselves: a message that was deleted after it was listed, or an unknown inbox.
    answers: [404],
    reason: (reply: Reply) => (reply.status >= 400 ? entryIn(reasons, text(reply.body, "code")) : undefined)
  }),
  offers: [create, inboxes, messages, send]
})
