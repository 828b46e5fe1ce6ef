/**
 * `rungate invite`: invites a person to the organization, lists invitations and withdraws them. Needs an admin's session.
 *
 * If the service sends no e-mails, the link is printed to stdout, for the person who invites to pass on.
 */
import { Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { roles } from "../../../schema/accounts/Role.ts"
import { Invitation } from "../../../schema/nouns/Member.ts"
import { InvitationsApi } from "../../api/accounts/Members.ts"
import { listed, said } from "../answers/draw.ts"
import { row, rowWith } from "../answers/row.ts"
import { formatOf, lines, read } from "../answers/show.ts"
import { bad } from "../terminal/exits.ts"
import { oneOf, optionalArgument } from "../terminal/flags.ts"

const { endpoints } = InvitationsApi

const list = row(endpoints.list, {
  show: listed(Invitation, "There are no open invitations. Invite a person with: rungate invite ada@example.com")
})

const withdraw = row(endpoints.withdraw, {
  show: said("Withdrew {invitation_id}. Its link no longer works.")
})

/** A new invitation: all that the command reads of it. */
const Invited = Schema.Struct({ link: Schema.optionalKey(Schema.String) })

export const invite = rowWith(
  endpoints.create,
  {},
  (_, { fields }) =>
    fields["email"] === undefined
      ? bad("Give the e-mail address of the person to invite: rungate invite ada@example.com")
      : Effect.succeed({}),
  {
    fields: {
      email: optionalArgument(Argument.String("email"), "e-mail address of the person to invite"),
      role: oneOf("role", roles, "role of the new member; at most your own").pipe(Flag.withDefault("member"))
    },
    examples: { "rungate invite ada@example.com --role viewer": "Another invitation replaces the first" },
    show: (answer, shown, flags) =>
      Effect.gen(function* () {
        const { link } = formatOf(shown.screen, shown) === "json" ? { link: undefined } : yield* read(Invited, answer)
        const mailed = said("Invited {email} as {role}. The link is mailed to them.")
        if (link === undefined) return yield* mailed(answer, shown, flags)
        yield* lines([link], answer.text)
        yield* said("Send this link only to {email}. It works once, within seven days.")(answer, shown, flags)
      })
  }
).pipe(Command.withSubcommands([list, withdraw]))
