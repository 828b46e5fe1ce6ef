/**
 * Adapter for Edges: profiles, invitations and messages on the professional network. Edges acts through identities, which are network
 * accounts that it manages or that people connected.
 *
 * An action's `input` names the person, and `parameters` has the options. The caller's input names the identity that sends an
 * invitation or a message. An identity of the provider reads profiles. The credits of an action are not documented, so prices are assumed.
 */
import { networkInvite } from "../../schema/capabilities/network.invite.ts"
import { networkMessage } from "../../schema/capabilities/network.message.ts"
import { networkProfile } from "../../schema/capabilities/network.profile.ts"
import { location, person } from "../../schema/capabilities/shapes.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { type Call, offer, type Outcome, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { httpErrors, match, noMatch, refusal, unreadable } from "./kit/outcome.ts"
import { flag, list, providerIds, text, webAddress, whole } from "./kit/read.ts"

const note = "Assumed at one credit for an action and $0.01 per credit."
const oneCredit = inCredits.flat("1")

/** Errors of the network arrive as status 424, with a label that says which one. */
const labels = ["ALREADY_CONNECTED", "INVITATION_PENDING", "NOT_CONNECTED", "PROFILE_NOT_ACCESSIBLE", "LIMIT_REACHED"]
const labelOf = (reply: Reply): string | null =>
  reply.status < 400 ? null : (labels.find((label) => new RegExp(`\\b${label}\\b`).test(reply.text)) ?? null)

/** The answer's object. Some actions answer with a list that has one object. */
const answerOf = (reply: Reply): unknown => (Array.isArray(reply.body) ? reply.body[0] : reply.body)

/** The miss or failure in an error reply. Call it after reading the labels that count as results. Undefined if the reply has an answer. */
const ended = (reply: Reply): Outcome<never> | undefined => {
  if (labelOf(reply) === "PROFILE_NOT_ACCESSIBLE") return noMatch("the profile can't be seen")
  return reply.status >= 400 ? refusal(reply) : undefined
}

const action = (name: string, body: object): Call => ({ method: "POST", path: `/actions/${name}/run/live`, body })

/** The provider requires the scheme in profile URLs. */
const profileAddress = (network_url: string | undefined): string => webAddress(network_url ?? null) ?? ""

/** Ids of Sales Navigator begin like this. */
const memberPattern = /^AC[o-rw-z][\w-]+$/

interface Addressed {
  readonly network_url?: string
  readonly provider_member_id?: string
}

const personOf = ({ network_url, provider_member_id }: Addressed) =>
  network_url === undefined
    ? { sales_navigator_profile_id: provider_member_id }
    : { linkedin_profile_url: profileAddress(network_url) }

const addressed = (input: Addressed): boolean =>
  input.network_url !== undefined || memberPattern.test(input.provider_member_id ?? "")

const profile = offer(networkProfile, {
  price: inCredits.flat("1.5"),
  note: `${note} An action by an identity that the provider manages costs half a credit more, as published.`,
  wraps: ["POST /actions/linkedin-extract-people/run/live"],
  serves: (input) => input.network_url !== undefined,
  request: (input) =>
    action("linkedin-extract-people", {
      identity_mode: "managed",
      input: { linkedin_profile_url: profileAddress(input.network_url) },
      parameters: { sections: true, experiences: true, skills: true, highlights: true }
    }),
  response: (reply, input) => {
    const end = ended(reply)
    if (end !== undefined) return end
    const answer = answerOf(reply)
    const full_name = text(answer, "full_name")
    if (full_name === null) return unreadable("full_name")
    const line = text(answer, "location")
    return match({
      ...person({
        full_name,
        first_name: text(answer, "first_name"),
        last_name: text(answer, "last_name"),
        headline: text(answer, "headline"),
        title: text(answer, "job_title"),
        company_name: text(answer, "company_name"),
        network_url: text(answer, "linkedin_profile_url") ?? webAddress(input.network_url ?? null),
        location: location(null, line, text(answer, "profile_country")),
        // The id that invitations and messages accept.
        provider_ids: providerIds("edges", answer, "sales_navigator_profile_id")
      }),
      about: text(answer, "summary"),
      followers: whole(answer, "number_followers"),
      connections: whole(answer, "number_connections"),
      experience:
        list(answer, "experiences")?.map((one) => ({
          title: text(one, "job_title") ?? text(one, "title"),
          company_name: text(one, "company_name"),
          company_domain: null,
          start_date: text(one, "start_date"),
          end_date: text(one, "end_date"),
          is_current: flag(one, "is_current")
        })) ?? null,
      education:
        list(answer, "education")?.map((one) => ({
          school: text(one, "school_name") ?? text(one, "school"),
          degree: text(one, "degree"),
          field: text(one, "field_of_study"),
          start_date: text(one, "start_date"),
          end_date: text(one, "end_date")
        })) ?? null,
      skills: list(answer, "skills")?.flatMap((one) => text(one) ?? text(one, "name") ?? []) ?? null,
      // The provider's identity read the profile, so the degree of connection says nothing about the caller.
      is_connected: null
    })
  }
})

const invite = offer(networkInvite, {
  price: oneCredit,
  note,
  wraps: ["POST /actions/linkedin-connect-profile/run/live"],
  serves: (input) => input.account_id !== undefined && addressed(input),
  request: (input) =>
    action("linkedin-connect-profile", {
      identity_ids: [input.account_id],
      input: personOf(input),
      ...(input.message === undefined ? {} : { parameters: { message: input.message } })
    }),
  response: (reply, input) => {
    const result = (status: "sent" | "already_connected" | "already_invited") =>
      match({ invitation_id: null, status, profile: { network_url: input.network_url ?? null, name: null } })
    const label = labelOf(reply)
    if (label === "ALREADY_CONNECTED") return result("already_connected")
    if (label === "INVITATION_PENDING") return result("already_invited")
    const end = ended(reply)
    if (end !== undefined) return end
    const answer = answerOf(reply)
    if (flag(answer, "connected") === true) return result("already_connected")
    return flag(answer, "pending") === true ? result("sent") : unreadable("state of the invitation")
  }
})

const message = offer(networkMessage, {
  price: oneCredit,
  note,
  wraps: ["POST /actions/linkedin-message-profile/run/live"],
  // Messages go to people and not to existing conversations. InMails are another action.
  serves: (input) =>
    input.account_id !== undefined && addressed(input) && input.chat_id === undefined && input.subject === undefined,
  request: (input) =>
    action("linkedin-message-profile", {
      identity_ids: [input.account_id],
      input: personOf(input),
      parameters: { message: input.text }
    }),
  response: (reply) => {
    if (labelOf(reply) === "NOT_CONNECTED") return noMatch("the person can't be written to from this account")
    const end = ended(reply)
    if (end !== undefined) return end
    const answer = answerOf(reply)
    const sent = flag(answer, "is_sent")
    if (sent === null) return unreadable("is_sent")
    if (!sent) return noMatch("the message was not sent")
    return match({
      message_id: text(answer, "linkedin_message_id"),
      chat_id: text(answer, "linkedin_thread_id"),
      status: "sent",
      sent_at: text(answer, "delivered_at")
    })
  }
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
  httpErrors: httpErrors({
    // The offers read errors of the network themselves.
    answers: [424],
    reason: (reply) => (labelOf(reply) === "LIMIT_REACHED" ? "provider_rate_limited" : undefined)
  }),
  offers: [profile, invite, message]
})
