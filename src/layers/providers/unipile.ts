/**
 * Unipile: profiles, invitations and messages through professional network accounts that people connected to it.
 *
 * It is paid by connected account and month, so a call has no cost of its own: prices are an assumed share. Its offers wait
 * for their adapters.
 */
import { networkInvite } from "../../schema/capabilities/network.invite.ts"
import { networkMessage } from "../../schema/capabilities/network.message.ts"
import { networkProfile } from "../../schema/capabilities/network.profile.ts"
import { flat } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

const note = "Paid by connected account and month; assumed at $0.005 for a call, a thousandth of an account's month."
/** $0.005 × 1.2 */
const oneCall = flat("0.006")

const profile = listed(networkProfile, {
  price: oneCall,
  note: `${note} Needs a connected account.`,
  wraps: [{ method: "GET", path: "/api/v1/users/{identifier}" }]
})

const invite = listed(networkInvite, {
  price: oneCall,
  note,
  wraps: [
    { method: "GET", path: "/api/v1/users/{identifier}" },
    { method: "POST", path: "/api/v1/users/invite" }
  ]
})

const message = listed(networkMessage, {
  price: oneCall,
  note,
  wraps: [
    { method: "POST", path: "/api/v1/chats" },
    { method: "POST", path: "/api/v1/chats/{chat_id}/messages" }
  ]
})

export const unipile = provider({
  slug: "unipile",
  title: "Unipile",
  homepage: "https://www.unipile.com",
  // Every customer has a host and port of their own, the DSN: operators set it as this provider's base URL.
  base_url: "https://api.unipile.com",
  auth: { kind: "header", name: "X-API-KEY" },
  concurrency: 5,
  timeoutMillis: 60_000,
  offers: [profile, invite, message]
})
