/**
 * The page behind an invitation to join an organization. It says who invites to what, and its form accepts the invitation.
 *
 * One form serves new people and people with an account, so the page tells nobody whether the address has one.
 */
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { MemberInvitations } from "../../layers/members/MemberInvitations.ts"
import { joinPath } from "../../schema/accounts/AccountMail.ts"
import { LinkToken, Password, passwordLengthMin } from "../api/shapes/AccountFields.ts"
import { makeAccept } from "./AcceptInvitation.ts"
import { badLink, form, formPage, hidden, openedLink } from "./Forms.ts"
import { escaped, page } from "./Page.ts"

const ended = badLink("<p>Ask the person who invited you for another invitation.</p>")

const password = `<label>Password. If you have an account here, its password; otherwise a new one of at least ${passwordLengthMin} characters
<input type="password" name="password" maxlength="500" required></label>
<label>Code of your authenticator app, if your account asks for one
<input name="code" maxlength="40" autocomplete="one-time-code"></label>`

const JoinForm = Schema.Struct({ token: LinkToken, password: Password, code: Schema.optionalKey(Schema.String) })

const role = {
  owner: "an owner, who also decides who is a member",
  admin: "an admin, who manages keys, limits and invitations",
  member: "a member, who runs and creates own API keys",
  viewer: "a viewer, who reads"
} as const

export const JoinOrganizationPage = Layer.unwrap(
  Effect.gen(function* () {
    const invitations = yield* MemberInvitations
    const accept = yield* makeAccept

    const shown = Effect.fnUntraced(function* (token: string) {
      const invitation = yield* invitations.open(Redacted.make(token))
      if (Option.isNone(invitation)) return null
      const { organization, email, role: invited } = invitation.value
      return page(
        200,
        "You are invited to an organization",
        `<p>You can join <strong>${escaped(organization)}</strong> on Rungate as ${role[invited]}. The invitation is for ${escaped(email)}.</p>${form(hidden(token) + password, "Join")}`
      )
    })

    const join = Effect.gen(function* () {
      const { token, password, code = "" } = yield* HttpServerRequest.schemaBodyUrlParams(JoinForm)
      const { session } = yield* accept(token, password, code === "" ? null : code)
      return page(
        200,
        "You are a member",
        `<p>${escaped(session.email)} is a member of <strong>${escaped(session.organization)}</strong> now.</p><p>Sign in with <code>rungate login --organization-id ${escaped(session.org_id)}</code>, or with <code>POST /v1/auth/sign-in</code> and this <code>organization_id</code>.</p>`
      )
    })

    return formPage(joinPath, openedLink(ended, shown), join)
  })
)
