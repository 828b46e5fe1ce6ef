/**
 * `rungate invite`: invites a person to the organization, lists invitations and withdraws them. Needs an admin's session.
 *
 * If the service sends no e-mails, the link is printed to stdout, for the person who invites to pass on.
 */
import { Clock, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Client } from "../answers/Client.ts"
import { pageFlags, readList } from "../answers/pages.ts"
import { decoded, failureOf, formatOf, json, jsonl, show, showList } from "../answers/show.ts"
import { Credentials } from "../state/Credentials.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { roles } from "../../../schema/accounts/Role.ts"

const path = "/v1/invitations"
const views = Effect.promise(() => import("./PeopleView.ts"))

const list = Command.make(
  "list",
  { ...pageFlags("invitations"), json, jsonl },
  Effect.fnUntraced(function* ({ json, jsonl, ...given }) {
    const screen = yield* Screen
    const token = yield* (yield* Credentials).session
    yield* showList(yield* readList(path, given, token), { json, jsonl }, (text) =>
      Effect.gen(function* () {
        const { invitationLines } = yield* views
        return invitationLines(text, screen, yield* Clock.currentTimeMillis)
      })
    )
  })
).pipe(Command.withDescription("List open invitations, newest first"), Command.withAlias("ls"))

const withdraw = Command.make(
  "withdraw",
  {
    invitation_id: Argument.String("invitation_id").pipe(Argument.withDescription("id from invite list")),
    json
  },
  Effect.fnUntraced(function* ({ invitation_id, json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    const token = yield* (yield* Credentials).session
    const answer = yield* send("DELETE", `${path}/${encodeURIComponent(invitation_id)}`, { token })
    if (formatOf(screen, { json }) === "json") return yield* show(answer, { json: true }, () => Effect.succeed(null))
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    yield* screen.say(`Withdrew ${invitation_id}. Its link no longer works.`)
  })
).pipe(Command.withDescription("Withdraw an invitation; its link stops working"))

export const invite = Command.make(
  "invite",
  {
    email: Argument.String("email").pipe(
      Argument.withDescription("e-mail address of the person to invite"),
      Argument.optional
    ),
    role: Flag.Literals("role", roles).pipe(
      Flag.withDescription("role of the new member; at most your own"),
      Flag.withDefault("member")
    ),
    json
  },
  Effect.fnUntraced(function* ({ email, role, json }) {
    if (Option.isNone(email))
      return yield* fail("usage", "Give the e-mail address of the person to invite: rungate invite ada@example.com")
    const { send } = yield* Client
    const screen = yield* Screen
    const token = yield* (yield* Credentials).session
    const answer = yield* send("POST", path, { token, body: { email: email.value, role } })
    if (formatOf(screen, { json }) === "json") return yield* show(answer, { json: true }, () => Effect.succeed(null))
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    const { Invited } = yield* views
    const link = decoded(Invited, answer.text)?.link
    if (link === undefined) return yield* screen.say(`Invited ${email.value} as ${role}. The link is mailed to them.`)
    yield* screen.out(`${link}\n`)
    yield* screen.say(`Send this link only to ${email.value}. It works once, within seven days.`)
  })
).pipe(
  Command.withDescription("Invite a person to the organization"),
  Command.withExamples([
    { command: "rungate invite ada@example.com --role viewer", description: "Another invitation replaces the first" }
  ]),
  Command.withSubcommands([list, withdraw])
)
