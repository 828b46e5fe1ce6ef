/**
 * email.send: one message to one or a few recipients, through the operator's sending account.
 *
 * It contacts people, so it acts at most once and is recorded as a touch. Charged when the provider accepts the message.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import { headerIssue, isInbox, readFrom } from "../accounts/Sender.ts"
import * as Field from "./fields.ts"
import { orNull } from "./shapes.ts"

/** Providers bill per recipient and Rungate bills per message, so the number of recipients is limited. */
const recipientsMax = 10
/** Characters of `text` or `html`. The request body as a whole is limited to 1 MiB. */
const contentLengthMax = 500_000

/** `to` as a list, from one address or a list. */
export const recipients = (to: string | ReadonlyArray<string>): ReadonlyArray<string> =>
  typeof to === "string" ? [to] : to

export const emailSend = capability({
  slug: "email.send",
  title: "Send an e-mail",
  category: "email",
  description: "Sends one e-mail from a verified sender or an inbox of the organization.",
  tags: [
    ...[
      "send email",
      "send an email",
      "send mail",
      "email someone",
      "transactional email",
      "cold email",
      "outreach email",
      "message by email"
    ],
    ...["mail", "outbound", "html email", "reply-to", "deliver", "notify", "smtp"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: false,
    description:
      "Charged once per message that the provider accepts for delivery. A refused or failed send costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    from: Field.text("An address that the organization owns, plain or as Name <address>, or the id of an inbox", 320),
    to: Schema.Union([Field.email("One recipient"), Field.emails("Recipients", recipientsMax)]).annotate({
      description: `One recipient or up to ${recipientsMax}, plain addresses`
    }),
    subject: Field.text("Subject line", 998),
    text: Schema.optionalKey(Field.text("Plain text body", contentLengthMax)),
    html: Schema.optionalKey(Field.text("HTML body", contentLengthMax)),
    cc: Schema.optionalKey(Field.emails("Recipients of a copy (cc)", recipientsMax)),
    bcc: Schema.optionalKey(Field.emails("Recipients of a blind copy (bcc)", recipientsMax)),
    reply_to: Schema.optionalKey(Field.email("Address for replies")),
    tags: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(256)))
        .annotate({ description: "Labels for the provider's reports: ASCII letters, digits, _ and -" })
        .check(Schema.isMaxProperties(20))
    ),
    headers: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(998)))
        .annotate({
          description:
            "Additional message headers such as List-Unsubscribe; headers that name a sender, such as From or Sender, are refused"
        })
        .check(Schema.isMaxProperties(20))
    )
  }),
  anyOf: [["text"], ["html"]],
  output: Schema.Struct({
    message_id: orNull(Schema.String, "The provider's id of the message"),
    thread_id: orNull(Schema.String, "Id of the conversation, for messages from inboxes"),
    accepted: Schema.Array(Schema.String).annotate({ description: "Recipients in `to` that the provider accepted" }),
    provider_status: orNull(Schema.String, "The status of the message in the provider's words")
  }),
  example: {
    from: "Acme <hello@example.com>",
    to: ["jane.doe@example.com"],
    subject: "Hello",
    text: "Hello Jane, this is a test."
  },
  matched: (output) => output.accepted.length > 0,
  refuses: ({ headers = {} }) =>
    Object.entries(headers).flatMap(([name, value]) => {
      const message = headerIssue(name, value)
      return message === null ? [] : [{ path: `headers.${name}`, message }]
    }),
  // An address on the organization's own domain may be an inbox as well as a sender.
  uses: ({ from }) => [
    { kinds: isInbox(from) ? ["inbox"] : ["sender", "inbox"], id: readFrom(from) ?? from, path: "from" }
  ],
  side_effect: true,
  channel: "email",
  simulate: ({ input, provider, seed }) => ({
    message_id: `sim_${provider}_${seed}`,
    thread_id: null,
    accepted: [...recipients(input.to)],
    provider_status: "simulated"
  })
})
