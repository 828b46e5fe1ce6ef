/**
 * email.inbox_list: the inboxes of the organization, page by page, as the service recorded them when they were created or assigned.
 *
 * Free. No provider is called, because its list has the inboxes of all organizations. An organization without inboxes gets an empty list, which is a success and not `no_match`.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import { Inbox } from "./email.inbox_create.ts"
import type { OwnedPage } from "../catalog/Resources.ts"
import * as Field from "./fields.ts"
import { listOf, nextPage } from "./shapes.ts"

const isInbox = Schema.is(Inbox)

/** The default limit. */
export const emailInboxListDefaultLimit = 10

/** An assigned inbox has an address and a date only. */
const inboxOf = ({ id, owned_since, made_as }: OwnedPage["items"][number]): Inbox =>
  isInbox(made_as) && made_as.inbox_id?.toLowerCase() === id
    ? made_as
    : {
        inbox_id: id,
        address: id.includes("@") ? id : null,
        display_name: null,
        created_at: owned_since.toISOString()
      }

export const emailInboxList = capability({
  slug: "email.inbox_list",
  title: "List e-mail inboxes",
  category: "email",
  description: "Lists the e-mail inboxes (mailboxes) of the organization with their addresses and display names.",
  tags: [
    ...["email", "inbox", "inboxes", "list", "mailbox", "mailboxes", "my inboxes", "email accounts", "addresses"],
    ...["senders", "free"]
  ],
  status: "live",
  billing: { model: "per_call", bills_no_match: false, description: "Free: listing inboxes costs nothing." },
  platforms: [],
  input: Schema.Struct({
    limit: Schema.optionalKey(Field.limit("Maximum number of inboxes, 10 by default", 100)),
    cursor: Schema.optionalKey(Field.text("next_cursor of the previous page", 2048))
  }),
  output: listOf("Total number of inboxes, if the provider reports it", nextPage, Inbox.fields),
  example: { limit: 5 },
  matched: () => true,
  owned: {
    kind: "inbox",
    page: (input) => ({
      limit: input.limit ?? emailInboxListDefaultLimit,
      after: input.cursor?.trim().toLowerCase() ?? null
    }),
    list: ({ items, total, next }) => ({ items: items.map(inboxOf), total, next_cursor: next })
  },
  side_effect: false,
  simulate: ({ input, partial }) => {
    const count = (input.limit ?? emailInboxListDefaultLimit) - (partial ? 1 : 0)
    const items = Array.from({ length: count }, (_, index) => {
      const address = `sample-${index + 1}@inbox.example`
      return {
        inbox_id: address,
        address,
        display_name: `Sample ${index + 1}`,
        created_at: `2026-01-${String(1 + (index % 28)).padStart(2, "0")}T09:30:00Z`
      }
    })
    return { items, total: count, next_cursor: null }
  },
  missHints: () => ["Create an inbox with email.inbox_create."]
})
