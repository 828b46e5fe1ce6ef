/** Invitations to sign up. The link is in this answer only: the database has its digest. */
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { type InvitationRow, Invitations } from "../../../layers/accounts/Invitations.ts"
import { addressOf, Settings } from "../../../layers/platform/Settings.ts"
import { invitationPath, linkOf } from "../../../schema/accounts/AccountMail.ts"
import { refused } from "../../../schema/Errors.ts"
import { NewSignUpInvitation, SignUpInvitation } from "../../../schema/nouns/operator/Session.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { group } from "../group.ts"

const shownMax = 100

const hasAccount = refused("email", "already has an account and can sign in")

const invitationJson = Schema.encodeSync(SignUpInvitation)
const newInvitationJson = Schema.encodeSync(NewSignUpInvitation)
const view = (row: InvitationRow, now: number) =>
  invitationJson({
    ...row,
    status: row.used_at !== null ? "used" : row.expires_at.getTime() > now ? "open" : "expired"
  })

export const OperatorInvitationsHandlers = group(
  "operatorInvitations",
  Effect.fnUntraced(function* (handlers) {
    const asOperator = yield* makeAsOperator
    const invitations = yield* Invitations
    const settings = yield* Settings
    return handlers.handleAll({
      list: Effect.fnUntraced(function* () {
        const now = yield* Clock.currentTimeMillis
        const rows = yield* invitations.latest(shownMax)
        return { items: rows.map((row) => view(row, now)) }
      }),

      create: Effect.fnUntraced(function* ({ payload }) {
        const invitation = yield* asOperator(invitations.invite(payload.email))
        if (Option.isNone(invitation)) return yield* hasAccount
        const { email, token, expires_at } = invitation.value
        const link = linkOf(addressOf(settings), invitationPath, Redacted.value(token))
        return newInvitationJson({ email, link, expires_at })
      })
    })
  })
)
