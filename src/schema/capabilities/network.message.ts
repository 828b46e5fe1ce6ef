/**
 * network.message: one message to one person on the professional network, from a connected account.
 *
 * It contacts a person, so it acts at most once and is recorded as a touch. Charged when the message was sent.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { orNull } from "./shapes.ts"

/** The network's maximum lengths of a message and of an InMail's subject. */
const textLengthMax = 8_000
const subjectLengthMax = 200

export const networkMessage = capability({
  slug: "network.message",
  title: "Send a professional network message",
  category: "network",
  description:
    "Sends a direct message or InMail on the professional network (LinkedIn) from a connected account, to a person or into a conversation. Contacts a person.",
  tags: [
    ...["network", "message", "linkedin", "dm", "direct message", "inmail", "chat", "conversation", "reply", "send"],
    ...["outreach", "prospecting", "follow-up", "professional network", "social selling"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: false,
    description: "Charged once per message that is sent. A refused or failed message costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    network_url: Schema.optionalKey(Field.networkUrl),
    chat_id: Schema.optionalKey(
      Field.text("An existing conversation, from chat_id of an earlier message of the organization", 200)
    ),
    provider_member_id: Schema.optionalKey(
      Field.text("The person's id at the provider, from provider_ids of network.profile", 200)
    ),
    text: Field.text("The message", textLengthMax),
    account_id: Schema.optionalKey(
      Field.text(
        "The organization's connected account that sends the message; currently every provider needs it, except with chat_id",
        200
      )
    ),
    subject: Schema.optionalKey(
      Field.text(
        "Subject line; it makes the message an InMail, which people who are not connected can receive",
        subjectLengthMax
      )
    )
  }),
  anyOf: [["network_url"], ["chat_id"], ["provider_member_id"]],
  output: Schema.Struct({
    message_id: orNull(Schema.String, "The provider's id of the message"),
    chat_id: orNull(Schema.String, "The conversation; pass it as chat_id to write again"),
    status: Schema.Literals(["sent", "not_sent"]).annotate({ description: "Only sent is charged" }),
    sent_at: orNull(Schema.String, "Time of sending in ISO 8601, if the provider reports it")
  }),
  example: {
    network_url: "https://www.linkedin.com/in/jane-doe",
    text: "Hello Jane, this is a test.",
    account_id: "account_1"
  },
  matched: (output) => output.status === "sent",
  // A conversation belongs to the organization that began it, and determines the connected account that sends.
  uses: ({ account_id, chat_id }) => [
    ...(account_id === undefined ? [] : [{ kinds: ["account"] as const, id: account_id, path: "account_id" }]),
    ...(chat_id === undefined ? [] : [{ kinds: ["job"] as const, id: chat_id, path: "chat_id" }])
  ],
  makes: ({ chat_id }) => (chat_id === null ? [] : [{ kind: "job", id: chat_id }]),
  side_effect: true,
  channel: "network",
  simulate: ({ input, provider, seed }) => ({
    message_id: `sim_${provider}_${seed}`,
    chat_id: input.chat_id ?? `sim_chat_${seed}`,
    status: "sent" as const,
    sent_at: "2026-01-15T09:30:00Z"
  }),
  missHints: (input) => [
    ...(input.subject === undefined && input.chat_id === undefined
      ? ["Give subject to send an InMail: only connected people can receive plain messages."]
      : []),
    "Invite the person with network.invite first, or write with email.send."
  ]
})
