/**
 * Adapter for Unipile: sends invitations and messages through professional network accounts that people connected to Unipile.
 *
 * A run looks the person up first and then sends, so only one of its requests contacts somebody. The input must name the connected
 * account. The input of `network.profile` can't, so there is no such offer. Unipile charges per connected account and month, so the
 * price of a call is an assumed share of that.
 */
import type { Schema } from "effect"
import { profileSlug } from "../../schema/capabilities/shapes.ts"
import { networkInvite } from "../../schema/capabilities/network.invite.ts"
import { networkMessage } from "../../schema/capabilities/network.message.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { type Call, type Failure, offer, type Outcome, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { httpErrors, match, noMatch, refusal, unreadable } from "./kit/outcome.ts"
import { at, entryIn, flag, segmentOf, text } from "./kit/read.ts"
import { defined } from "../../schema/defined.ts"

const note = "A call counts as a credit, assumed at $0.005, a thousandth of the monthly price of a connected account."
const oneCall = inCredits.flat("1")

interface Addressed {
  readonly network_url?: string
  readonly provider_member_id?: string
  readonly account_id?: string
}

/** The type of an error, such as "already_connected". */
const typeOf = (reply: Reply): string => text(reply.body, "type")?.replace(/^errors\//, "") ?? ""

const namesPerson = (input: Addressed): boolean =>
  input.provider_member_id !== undefined || profileSlug(input.network_url ?? "") !== ""

const lookUp = (input: Addressed): Call => ({
  method: "GET",
  path: `/api/v1/users/${segmentOf(profileSlug(input.network_url ?? ""))}`,
  query: { account_id: input.account_id }
})

/** The person's id, from the input or from the look-up. */
const memberOf = (input: Addressed, state: Schema.Json): string | null =>
  input.provider_member_id ?? text(state, "provider_id")

const nameOf = (value: unknown): string | null =>
  [text(value, "first_name"), text(value, "last_name")].filter((part) => part !== null).join(" ") || null

/** Reads the look-up and goes on with the person's id. */
const readLookUp = (reply: Reply): Outcome<never> => {
  if (reply.status === 404 || reply.status === 422) {
    return /not_found|invalid_recipient/.test(typeOf(reply)) ? noMatch("nobody has this profile URL") : refusal(reply)
  }
  const provider_id = text(reply.body, "provider_id")
  if (provider_id === null) return unreadable("provider_id")
  return { _tag: "Again", state: { provider_id, name: nameOf(reply.body) }, afterMillis: 0, job: false }
}

const inviteCall = (input: Addressed & { readonly message?: string }, member: string): Call => ({
  method: "POST",
  path: "/api/v1/users/invite",
  body: {
    account_id: input.account_id,
    provider_id: member,
    ...defined({ message: input.message })
  }
})

/** Errors that mean that no invitation is needed. */
const invited: Readonly<Record<string, "already_connected" | "already_invited">> = {
  already_connected: "already_connected",
  already_invited: "already_invited",
  already_invited_recently: "already_invited"
}

const invite = offer(networkInvite, {
  price: oneCall,
  note,
  wraps: ["GET /api/v1/users/{identifier}", "POST /api/v1/users/invite"],
  serves: (input) => input.account_id !== undefined && namesPerson(input),
  request: (input) => {
    const member = memberOf(input, null)
    return member === null ? lookUp(input) : inviteCall(input, member)
  },
  next: (state, input) => inviteCall(input, memberOf(input, state) ?? ""),
  response: (reply, input, state) => {
    const ended = (status: "sent" | "already_connected" | "already_invited", invitation_id: string | null) =>
      match({
        invitation_id,
        status,
        profile: { network_url: input.network_url ?? null, name: text(state, "name") ?? nameOf(reply.body) }
      })
    if (memberOf(input, state) === null) {
      if (reply.status === 200 && flag(reply.body, "is_relationship") === true) return ended("already_connected", null)
      if (text(at(reply.body, "invitation"), "type") === "SENT") return ended("already_invited", null)
      return readLookUp(reply)
    }
    const already = entryIn(invited, typeOf(reply))
    if (reply.status === 422 && already !== undefined) return ended(already, null)
    if (reply.status >= 400) return refusal(reply)
    const invitation_id = text(reply.body, "invitation_id")
    return invitation_id === null ? unreadable("invitation_id") : ended("sent", invitation_id)
  }
})

type MessageInput = Addressed & { readonly chat_id?: string; readonly text: string; readonly subject?: string }

const intoChat = (input: MessageInput, chat_id: string): Call => ({
  method: "POST",
  path: `/api/v1/chats/${segmentOf(chat_id)}/messages`,
  encoding: "multipart",
  body: { text: input.text, ...defined({ account_id: input.account_id }) }
})

const newChat = (input: MessageInput, member: string): Call => ({
  method: "POST",
  path: "/api/v1/chats",
  encoding: "multipart",
  body: {
    account_id: input.account_id,
    attendees_ids: [member],
    text: input.text,
    ...(input.subject === undefined ? {} : { title: input.subject, inmail: true })
  }
})

/** Errors that mean that the person can't receive messages from this account. Nothing was sent, so the run is a miss. */
const unreachable = /^(no_connection_with_recipient|blocked_recipient|invalid_recipient|not_allowed_inmail)$/

const message = offer(networkMessage, {
  price: oneCall,
  note,
  wraps: ["POST /api/v1/chats", "GET /api/v1/users/{identifier}", "POST /api/v1/chats/{chat_id}/messages"],
  serves: (input) =>
    input.chat_id === undefined ? input.account_id !== undefined && namesPerson(input) : input.subject === undefined,
  request: (input) => {
    if (input.chat_id !== undefined) return intoChat(input, input.chat_id)
    const member = memberOf(input, null)
    return member === null ? lookUp(input) : newChat(input, member)
  },
  next: (state, input) => newChat(input, memberOf(input, state) ?? ""),
  response: (reply, input, state) => {
    if (input.chat_id === undefined && memberOf(input, state) === null) return readLookUp(reply)
    if (unreachable.test(typeOf(reply))) return noMatch("the person can't be written to from this account")
    if (reply.status >= 400) return refusal(reply)
    const message_id = text(reply.body, "message_id")
    const chat_id = text(reply.body, "chat_id") ?? input.chat_id ?? null
    if (message_id === null) return unreadable("message_id")
    return match({ message_id, chat_id, status: "sent", sent_at: null })
  }
})

/** Rate limits of the network arrive as rejected requests. */
const limits =
  /^(cannot_resend_yet|cannot_resend_within_24hrs|limit_exceeded|connection_limit_reached|too_many_requests)$/

const reasonOf = (reply: Reply): Failure["reason"] | undefined =>
  reply.status >= 400 && limits.test(typeOf(reply)) ? "provider_rate_limited" : undefined

export const unipile = provider({
  slug: "unipile",
  title: "Unipile",
  homepage: "https://www.unipile.com",
  // Every Unipile customer has its own host and port (DSN). Operators set it as this provider's base URL.
  base_url: "https://api.unipile.com",
  auth: { kind: "header", name: "X-API-KEY" },
  credit: "0.005",
  concurrency: 5,
  timeoutMillis: 60_000,
  httpErrors: httpErrors({
    // The offers read these themselves: unknown people, and refusals that count as results.
    answers: [404, 422],
    reason: reasonOf
  }),
  offers: [invite, message]
})
