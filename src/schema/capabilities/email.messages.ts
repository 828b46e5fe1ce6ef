/**
 * email.messages: the messages in an inbox of the organization, latest first, page by page.
 *
 * Free. An inbox without new messages gives an empty list, which is a success and not `no_match`. So clients can poll for replies.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { listOf, nextPage, orNull, pick } from "./shapes.ts"

/** The default limit, which every adapter requests. */
export const emailMessagesDefaultLimit = 10

export const Attachment = Schema.Struct({
  attachment_id: Schema.NullOr(Schema.String),
  filename: Schema.NullOr(Schema.String),
  content_type: Schema.NullOr(Schema.String),
  size_bytes: Schema.NullOr(Schema.Int)
})
export const Message = Schema.Struct({
  message_id: Schema.NullOr(Schema.String),
  thread_id: orNull(Schema.String, "Id of the conversation"),
  from: orNull(Schema.String, "The sender, plain or as Name <address>"),
  to: Schema.Array(Schema.String),
  subject: Schema.NullOr(Schema.String),
  preview: orNull(Schema.String, "The first words of the text"),
  text: orNull(Schema.String, "Plain text, without quoted replies if the provider can remove them"),
  received_at: orNull(Schema.String, "ISO 8601"),
  labels: Schema.Array(Schema.String).annotate({ description: "The provider's labels, such as received or unread" }),
  attachments: Schema.Array(Attachment)
})
export type Message = typeof Message.Type

export const emailMessages = capability({
  slug: "email.messages",
  title: "Read an inbox's messages",
  category: "email",
  description:
    "Reads the e-mail messages of an inbox of the organization, latest first: sender, subject, text, labels and attachments. Use it to check for replies.",
  tags: [
    ...["email", "messages", "inbox", "read email", "check email", "replies", "reply", "received", "unread", "mail"],
    ...["mailbox", "thread", "conversation", "list", "free"]
  ],
  status: "live",
  billing: { model: "per_call", bills_no_match: false, description: "Free: reading messages costs nothing." },
  platforms: [],
  input: Schema.Struct({
    inbox_id: Field.text("The inbox, from email.inbox_create or email.inbox_list", 320),
    limit: Schema.optionalKey(Field.limit("Maximum number of messages, 10 by default", 100)),
    cursor: Schema.optionalKey(Field.text("next_cursor of the previous page, with the same filters", 2048)),
    unread_only: Schema.optionalKey(Schema.Boolean.annotate({ description: "Only messages that nobody has read" })),
    since: Schema.optionalKey(
      Schema.String.annotate({
        description: "Only messages received after this moment, such as 2026-01-15T09:30:00Z",
        format: "date-time"
      }).check(Schema.isMinLength(1), Schema.isMaxLength(40))
    )
  }),
  output: listOf("Total number of matching messages, if the provider reports it", nextPage, Message.fields),
  example: { inbox_id: "sales@inbox.example", limit: 5 },
  matched: () => true,
  uses: (input) => [{ kinds: ["inbox"], id: input.inbox_id, path: "inbox_id" }],
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const count = (input.limit ?? emailMessagesDefaultLimit) - (partial ? 1 : 0)
    const items = Array.from({ length: count }, (_, index) => {
      const text = pick(seed + index, ["Thanks, let us talk next week.", "Not now, please.", "Who are you?"])
      return {
        message_id: `sim_${seed}_${index + 1}`,
        thread_id: `sim_thread_${index + 1}`,
        from: `Sample ${index + 1} <sample-${index + 1}@company.example>`,
        to: [input.inbox_id],
        subject: `Re: Hello (simulated ${index + 1})`,
        preview: text,
        text,
        // Not before `since`, so that the message matches the input.
        received_at: input.since ?? "2026-01-15T09:30:00Z",
        labels: input.unread_only === true ? ["received", "unread"] : ["received"],
        attachments: []
      }
    })
    return { items, total: count, next_cursor: null }
  },
  missHints: (input) => [
    ...(input.unread_only === true ? ["Leave out unread_only."] : []),
    ...(input.since === undefined ? [] : ["Give an earlier moment in since."]),
    "Check inbox_id with email.inbox_list."
  ]
})
