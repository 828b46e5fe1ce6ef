/**
 * AgentMail: inboxes of the workspace, what arrives in them and what is sent from them.
 *
 * Never raw. It reports no cost; prices are its published list for single requests. Its offers wait for their adapters.
 */
import { emailInboxCreate } from "../../schema/capabilities/email.inbox_create.ts"
import { emailInboxList } from "../../schema/capabilities/email.inbox_list.ts"
import { emailMessages } from "../../schema/capabilities/email.messages.ts"
import { emailSend } from "../../schema/capabilities/email.send.ts"
import { flat } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

const note = "The provider's published list of prices for single requests."

const create = listed(emailInboxCreate, {
  // $2.00 × 1.2
  price: flat("2.40"),
  note,
  wraps: []
})

const inboxes = listed(emailInboxList, { price: flat("0.00"), note: `${note} Reading is free.`, wraps: [] })

const messages = listed(emailMessages, { price: flat("0.00"), note: `${note} Reading is free.`, wraps: [] })

const send = listed(emailSend, {
  // $0.01 × 1.2
  price: flat("0.012"),
  note,
  wraps: [],
  // An inbox of the workspace; other senders are verified at the other providers.
  serves: (input) => !input.from.includes("@") || /@agentmail\.to>?$/i.test(input.from)
})

export const agentmail = provider({
  slug: "agentmail",
  title: "AgentMail",
  homepage: "https://agentmail.to",
  base_url: "https://api.agentmail.to",
  auth: { kind: "bearer" },
  excluded: "Inboxes belong to a workspace; use email.inbox_create, email.inbox_list, email.messages or email.send.",
  concurrency: 10,
  timeoutMillis: 20_000,
  offers: [create, inboxes, messages, send]
})
