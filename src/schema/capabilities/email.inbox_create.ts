/**
 * email.inbox_create: a new inbox of the organization, with an address that sends and receives.
 *
 * It creates something that lasts and costs money, so it acts at most once. Charged when the inbox was created.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { orNull } from "./shapes.ts"

/** An inbox, as email.inbox_list also returns it. */
export const Inbox = Schema.Struct({
  inbox_id: orNull(Schema.String, "Pass it to email.messages, or as from to email.send"),
  address: orNull(Schema.String, "The inbox's e-mail address"),
  display_name: orNull(Schema.String, "The name that recipients see"),
  created_at: orNull(Schema.String, "ISO 8601")
})
export type Inbox = typeof Inbox.Type

export const emailInboxCreate = capability({
  slug: "email.inbox_create",
  title: "Create an e-mail inbox",
  category: "email",
  description:
    "Creates an e-mail inbox (mailbox) with its own address in the organization, for sending with email.send and reading replies with email.messages.",
  tags: [
    ...["email", "inbox", "create", "mailbox", "new email address", "email account", "agent inbox", "sender"],
    ...["receive email", "replies", "mail", "provision", "outreach"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: false,
    description: "Charged once per inbox that is created. A refused or failed creation costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    username: Schema.optionalKey(
      Schema.String.annotate({
        description: "The part before the @, such as sales; the provider chooses one by default"
      }).check(Schema.isPattern(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/u))
    ),
    domain: Schema.optionalKey(
      Field.domain("A verified domain of the organization; by default the provider's own domain")
    ),
    display_name: Schema.optionalKey(Field.text("The name that recipients see", 100))
  }),
  output: Inbox,
  example: { username: "sales", display_name: "Sales" },
  matched: (output) => output.inbox_id !== null,
  // An address in a domain speaks for the domain's owner, so the organization must own the domain.
  uses: ({ domain }) =>
    domain === undefined || /^agentmail\.to$/i.test(domain) ? [] : [{ kinds: ["domain"], id: domain, path: "domain" }],
  makes: ({ inbox_id }) => (inbox_id === null ? [] : [{ kind: "inbox", id: inbox_id }]),
  side_effect: true,
  simulate: ({ input, seed }) => {
    const address = `${input.username?.toLowerCase() ?? `sim-${seed}`}@${input.domain?.toLowerCase() ?? "inbox.example"}`
    return {
      inbox_id: address,
      address,
      display_name: input.display_name ?? null,
      created_at: "2026-01-15T09:30:00Z"
    }
  },
  missHints: () => [
    "Try another username: the address may be taken.",
    "Leave out domain, or check that it is verified."
  ]
})
