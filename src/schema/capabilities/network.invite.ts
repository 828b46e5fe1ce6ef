/**
 * network.invite: one invitation to connect on the professional network, from a connected account.
 *
 * It contacts a person, so it acts at most once and is recorded as a touch. A person who is already connected or invited is a result and not
 * an error. Nothing was sent then, so nothing is charged.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { orNull, profileSlug, titleCase } from "./shapes.ts"

/** The network shortens or refuses longer notes. */
const messageLengthMax = 300

export const networkInvite = capability({
  slug: "network.invite",
  title: "Invite someone to connect",
  category: "network",
  description:
    "Sends a connection request on the professional network (LinkedIn) from a connected account, with an optional note. Contacts a person.",
  tags: [
    ...["network", "invite", "linkedin", "connect", "connection request", "invitation", "add connection", "outreach"],
    ...["prospecting", "professional network", "social selling", "note", "send"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: false,
    description:
      "Charged once per invitation that is sent. A person who is already connected or invited costs nothing, and neither does a failed call."
  },
  platforms: [],
  input: Schema.Struct({
    network_url: Schema.optionalKey(Field.networkUrl),
    provider_member_id: Schema.optionalKey(
      Field.text("The person's id at the provider, from provider_ids of network.profile", 200)
    ),
    message: Schema.optionalKey(Field.text("Note to send with the invitation; none by default", messageLengthMax)),
    account_id: Schema.optionalKey(
      Field.text(
        "The organization's connected account that sends the invitation; currently every provider needs it",
        200
      )
    )
  }),
  anyOf: [["network_url"], ["provider_member_id"]],
  output: Schema.Struct({
    invitation_id: orNull(Schema.String, "The provider's id of the invitation; null when none was sent"),
    status: Schema.Literals(["sent", "already_connected", "already_invited"]).annotate({
      description: "Outcome of the invitation; only sent is charged"
    }),
    profile: Schema.Struct({ network_url: Schema.NullOr(Schema.String), name: Schema.NullOr(Schema.String) }).annotate({
      description: "The person who was invited"
    })
  }),
  example: {
    network_url: "https://www.linkedin.com/in/jane-doe",
    message: "Hello Jane, this is a test.",
    account_id: "account_1"
  },
  matched: () => true,
  unbilled: (output) => output.status !== "sent",
  uses: ({ account_id }) =>
    account_id === undefined ? [] : [{ kinds: ["account"], id: account_id, path: "account_id" }],
  side_effect: true,
  channel: "network",
  simulate: ({ input, provider, seed }) => {
    const name = titleCase(profileSlug(input.network_url ?? ""))
    return {
      invitation_id: `sim_${provider}_${seed}`,
      status: "sent" as const,
      profile: { network_url: input.network_url ?? null, name: name === "" ? null : name }
    }
  },
  missHints: () => ["Check with network.profile that the address is a person's profile and still exists."]
})
