/**
 * email.inbox_list: the inboxes of the workspace, page by page.
 *
 * Free. A workspace without inboxes gets an empty list, which is a success and not `no_match`.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import { Inbox } from "./email.inbox_create.ts"
import * as Field from "./fields.ts"
import { orNull } from "./shapes.ts"

/** The default limit, which every adapter requests. */
export const emailInboxListDefaultLimit = 10

export const emailInboxList = capability({
  slug: "email.inbox_list",
  title: "List e-mail inboxes",
  category: "email",
  description: "Lists the e-mail inboxes (mailboxes) of the workspace with their addresses and display names.",
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
  output: Schema.Struct({
    items: Schema.Array(Inbox),
    total: orNull(Schema.Int, "Total number of inboxes, if the provider reports it"),
    next_cursor: orNull(Schema.String, "Pass as cursor for the next page; null at the end")
  }),
  example: { limit: 5 },
  matched: () => true,
  results: (output) => output.items.length,
  ownOnly: {
    kind: "inbox",
    keep: (output, owned) => ({
      items: output.items.filter(({ inbox_id }) => inbox_id !== null && owned.has(inbox_id.toLowerCase())),
      // The provider's total counts the inboxes of all organizations.
      total: owned.size,
      next_cursor: output.next_cursor
    })
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
