/** Invitations to join the caller's organization, and accepting one. */
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { AccountMails } from "../../../actors/accounts/AccountMails.ts"
import {
  type InvitationRow,
  invitationsMax,
  invitationsPerHour,
  MemberInvitations
} from "../../../layers/members/MemberInvitations.ts"
import { addressOf, Settings } from "../../../layers/platform/Settings.ts"
import { joinPath, linkOf } from "../../../schema/accounts/AccountMail.ts"
import { inviterOf } from "../../../schema/accounts/Role.ts"
import { problem, refused } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { Invitation } from "../../../schema/nouns/Member.ts"
import { listInvitations } from "../../../schema/Steps.ts"
import { group } from "../group.ts"
import { pageOf } from "../ListPage.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { needsRole } from "../../access/Access.ts"
import { allowAttempt, linkAccount } from "../../middleware/Attempts.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { unknownSession } from "../../middleware/CallerChecks.ts"
import { Limits } from "../../middleware/Limits.ts"
import { makeAccept, notInvited } from "../../pages/AcceptInvitation.ts"
import { shownSession } from "./shownSession.ts"

const alreadyMember = refused("email", "is already a member of this organization")
const tooMany = {
  open: problem(
    "invalid_request",
    withCommands`This organization has ${invitationsMax} open invitations, which is the most. Withdraw one first: ${listInvitations} lists them.`
  ),
  hour: problem(
    "rate_limited",
    `This organization has sent ${invitationsPerHour} invitations within an hour, which is the most. Try again later.`
  )
}
const unknown = (invitation_id: string) =>
  problem(
    "not_found",
    withCommands`There is no open invitation "${invitation_id}". List them with ${listInvitations}.`,
    [{ path: "path.invitation_id", message: "is not an open invitation of this organization" }]
  )

const invitationJson = Schema.encodeSync(Invitation)
const view = (row: InvitationRow, now: number) =>
  invitationJson({ ...row, status: row.expires_at.getTime() > now ? "open" : "expired" })

export const InvitationsHandlers = group(
  "invitations",
  Effect.fnUntraced(function* (handlers) {
    const invitations = yield* MemberInvitations
    const accountMails = yield* AccountMails
    const asCaller = yield* makeAsCaller
    const settings = yield* Settings
    const limits = yield* Limits
    const accept = yield* makeAccept
    const mailed = () => settings.current().mail !== null

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const now = yield* Clock.currentTimeMillis
        const read = (before: string | null, limit: number) => invitations.list(org_id, before, limit)
        return yield* pageOf("inv", query, read, (row) => view(row, now))
      }),

      create: Effect.fnUntraced(function* ({ payload: { email, role: invited } }) {
        const { org_id, user_id } = yield* CurrentCaller
        const { row, token } = yield* asCaller(
          invitations.invite({ org_id, email, role: invited, invited_by: user_id ?? "", mailed: mailed() })
        ).pipe(
          Effect.catchTags({
            MayNotInvite: ({ has }) =>
              Effect.fail(
                has === null
                  ? unknownSession
                  : needsRole(inviterOf(invited), has, "Nobody can invite to a role above their own.")
              ),
            AlreadyMember: () => alreadyMember,
            TooManyInvitations: ({ limit }) => Effect.fail(tooMany[limit])
          })
        )
        const shown = view(row, yield* Clock.currentTimeMillis)
        if (token !== null) return { ...shown, link: linkOf(addressOf(settings), joinPath, Redacted.value(token)) }
        yield* accountMails.wake
        return shown
      }),

      withdraw: Effect.fnUntraced(function* ({ params: { invitation_id } }) {
        const { org_id } = yield* CurrentCaller
        const withdrawn =
          looksLike("inv", invitation_id) && (yield* asCaller(invitations.withdraw(org_id, invitation_id)))
        return withdrawn ? { id: invitation_id, deleted: true as const } : yield* Effect.fail(unknown(invitation_id))
      }),

      preview: Effect.fnUntraced(function* ({ payload: { token } }) {
        // Counted apart from acceptances, so that somebody who opens the page often can still accept.
        yield* allowAttempt(limits, linkAccount(`${token} preview`))
        const invitation = yield* invitations.open(Redacted.make(token))
        if (Option.isNone(invitation)) return yield* notInvited
        const { organization, email, role } = invitation.value
        return { organization, email, role }
      }),

      accept: Effect.fnUntraced(function* ({ payload: { token, password, code = null } }) {
        const { token: session_token, session } = yield* accept(token, password, code)
        return { session_token: Redacted.value(session_token), ...shownSession(settings, session) }
      })
    })
  })
)
