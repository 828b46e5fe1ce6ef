/**
 * Edges: profiles, invitations and messages on the professional network, by identities it manages or people connected.
 *
 * Neither the credits of an action nor their price are in its documentation, so both are assumed; its offers wait for their
 * adapters.
 */
import { networkInvite } from "../../schema/capabilities/network.invite.ts"
import { networkMessage } from "../../schema/capabilities/network.message.ts"
import { networkProfile } from "../../schema/capabilities/network.profile.ts"
import { flat } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

const note = "Assumed at one credit for an action and $0.01 per credit."
/** 1 credit × $0.01 × 1.2 */
const oneCredit = flat("0.012")

const profile = listed(networkProfile, {
  // 1.5 credits × $0.01 × 1.2
  price: flat("0.018"),
  note: `${note} Identities that the provider manages take half as much again, as published.`,
  wraps: [{ method: "POST", path: "/actions/linkedin-extract-people/run/live" }],
  serves: (input) => input.network_url !== undefined
})

const invite = listed(networkInvite, {
  price: oneCredit,
  note,
  wraps: [{ method: "POST", path: "/actions/linkedin-connect-profile/run/live" }],
  serves: (input) => input.network_url !== undefined
})

const message = listed(networkMessage, {
  price: oneCredit,
  note,
  wraps: [{ method: "POST", path: "/actions/linkedin-message-profile/run/live" }],
  serves: (input) => input.network_url !== undefined
})

export const edges = provider({
  slug: "edges",
  title: "Edges",
  homepage: "https://edges.run",
  base_url: "https://api.edges.run/v1",
  auth: { kind: "header", name: "X-API-Key" },
  credit: "0.01",
  concurrency: 5,
  timeoutMillis: 60_000,
  offers: [profile, invite, message]
})
