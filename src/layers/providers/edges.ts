/**
 * Edges: profiles, invitations and messages on the professional network, by identities it manages or people connected.
 *
 * What an action does to a person is said in `parameters`, whom it concerns in `input`. An invitation or a message needs the
 * identity that sends it, which the input names; a profile is read by an identity of the provider. The credits of an action are
 * not documented, so prices are assumed.
 */
import { networkInvite } from "../../schema/capabilities/network.invite.ts"
import { networkMessage } from "../../schema/capabilities/network.message.ts"
import { networkProfile } from "../../schema/capabilities/network.profile.ts"
import { location, person } from "../../schema/capabilities/shapes.ts"
import { flat } from "../../schema/money/Pricing.ts"
import { type Call, offer, type Outcome, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { match, noMatch } from "./kit/outcome.ts"
import { flag, list, providerIds, text, webAddress, whole } from "./kit/read.ts"
import { refusal, httpErrors, unreadable } from "./kit/httpErrors.ts"

const note = "Assumed at one credit for an action and $0.01 per credit."
/** 1 credit × $0.01 × 1.2 */
const oneCredit = flat("0.012")

/** Results of the network are failed dependencies (424), told apart by a label. */
const labels = ["ALREADY_CONNECTED", "INVITATION_PENDING", "NOT_CONNECTED", "PROFILE_NOT_ACCESSIBLE", "LIMIT_REACHED"]
const labelOf = (reply: Reply): string | null =>
  reply.status < 400 ? null : (labels.find((label) => new RegExp(`\\b${label}\\b`).test(reply.text)) ?? null)

/** Some actions answer with a list of one. */
const answerOf = (reply: Reply): unknown => (Array.isArray(reply.body) ? reply.body[0] : reply.body)

/** An answer that is none, after the labels that an offer understands. */
const ended = (reply: Reply): Outcome<never> | undefined => {
  if (labelOf(reply) === "PROFILE_NOT_ACCESSIBLE") return noMatch("the profile can't be seen")
  return reply.status >= 400 ? refusal(reply) : undefined
}

const action = (name: string, body: object): Call => ({ method: "POST", path: `/actions/${name}/run/live`, body })

/** The provider wants the scheme. */
const profileAddress = (network_url: string | undefined): string => webAddress(network_url ?? null) ?? ""

/** Sales Navigator's ids begin so. */
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
  // 1.5 credits × $0.01 × 1.2
  price: flat("0.018"),
  note: `${note} Identities that the provider manages take half as much again, as published.`,
  wraps: [{ method: "POST", path: "/actions/linkedin-extract-people/run/live" }],
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
    const found = answerOf(reply)
    const full_name = text(found, "full_name")
    if (full_name === null) return unreadable("full_name")
    const line = text(found, "location")
    return match({
      ...person({
        full_name,
        first_name: text(found, "first_name"),
        last_name: text(found, "last_name"),
        headline: text(found, "headline"),
        title: text(found, "job_title"),
        company_name: text(found, "company_name"),
        network_url: text(found, "linkedin_profile_url") ?? webAddress(input.network_url ?? null),
        location: location(null, line, text(found, "profile_country")),
        // The id that an invitation or a message takes.
        provider_ids: providerIds("edges", found, "sales_navigator_profile_id")
      }),
      about: text(found, "summary"),
      followers: whole(found, "number_followers"),
      connections: whole(found, "number_connections"),
      experience:
        list(found, "experiences")?.map((one) => ({
          title: text(one, "job_title") ?? text(one, "title"),
          company_name: text(one, "company_name"),
          company_domain: null,
          start_date: text(one, "start_date"),
          end_date: text(one, "end_date"),
          is_current: flag(one, "is_current")
        })) ?? null,
      education:
        list(found, "education")?.map((one) => ({
          school: text(one, "school_name") ?? text(one, "school"),
          degree: text(one, "degree"),
          field: text(one, "field_of_study"),
          start_date: text(one, "start_date"),
          end_date: text(one, "end_date")
        })) ?? null,
      skills: list(found, "skills")?.flatMap((one) => text(one) ?? text(one, "name") ?? []) ?? null,
      // An identity of the provider looked; whom it knows is no answer.
      is_connected: null
    })
  }
})

const invite = offer(networkInvite, {
  price: oneCredit,
  note,
  wraps: [{ method: "POST", path: "/actions/linkedin-connect-profile/run/live" }],
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
  wraps: [{ method: "POST", path: "/actions/linkedin-message-profile/run/live" }],
  // It writes to people, not into conversations, and InMails are another action.
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
    // What the network said, which the offers tell apart.
    answers: [424],
    reason: (reply) => (labelOf(reply) === "LIMIT_REACHED" ? "provider_rate_limited" : undefined)
  }),
  offers: [profile, invite, message]
})
