/** `rungate members`: who belongs to the organization, with which role. Needs a session; changes need an owner's. */
import { Clock, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { type Answer, Client } from "../answers/Client.ts"
import { pageFlags, readList } from "../answers/pages.ts"
import { failureOf, formatOf, json, jsonl, show, showList } from "../answers/show.ts"
import { Credentials } from "../state/Credentials.ts"
import { consent } from "../terminal/consent.ts"
import { boolean, yes } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"
import { roles } from "../../../schema/accounts/Role.ts"

const path = "/v1/members"
const member_id = Argument.String("member_id").pipe(Argument.withDescription("id from members list"))
const of = (id: string) => `${path}/${encodeURIComponent(id)}`

const views = Effect.promise(() => import("./PeopleView.ts"))

const list = Command.make(
  "list",
  { ...pageFlags("members"), json, jsonl },
  Effect.fnUntraced(function* ({ json, jsonl, ...given }) {
    const screen = yield* Screen
    const token = yield* (yield* Credentials).session
    yield* showList(yield* readList(path, given, token), { json, jsonl }, (text) =>
      Effect.gen(function* () {
        const { memberLines } = yield* views
        return memberLines(text, screen, yield* Clock.currentTimeMillis)
      })
    )
  })
).pipe(Command.withDescription("List members and their roles"), Command.withAlias("ls"))

/** Prints the body as it is, or one sentence for a person. */
const printSentence = Effect.fnUntraced(function* (
  answer: Answer,
  flags: { readonly json: boolean },
  sentence: (text: string) => string
) {
  const screen = yield* Screen
  if (formatOf(screen, flags) === "json") return yield* show(answer, { json: true }, () => Effect.succeed(null))
  const failure = yield* failureOf(answer)
  if (failure !== null) return yield* failure
  yield* screen.say(sentence(answer.text))
})

const setRole = Command.make(
  "set-role",
  {
    member_id,
    role: Argument.Literals("role", roles).pipe(Argument.withDescription(roles.join(", "))),
    json
  },
  Effect.fnUntraced(function* ({ member_id, role, json }) {
    const { send } = yield* Client
    const token = yield* (yield* Credentials).session
    const answer = yield* send("PATCH", of(member_id), { token, body: { role } })
    const { roleLine } = yield* views
    yield* printSentence(answer, { json }, roleLine)
  })
).pipe(
  Command.withDescription(
    "Change a member's role, and take from their keys what it may not do; needs an owner's session"
  )
)

const remove = Command.make(
  "remove",
  {
    member_id,
    keep_keys: boolean("keep-keys", "keep the API keys that the member created, with the scope of a member at most"),
    yes,
    json
  },
  Effect.fnUntraced(function* ({ member_id, keep_keys, yes, json }) {
    const { send } = yield* Client
    const token = yield* (yield* Credentials).session
    const keys = keep_keys
      ? "The API keys that they created start runs and change nothing else."
      : "The API keys that they created are revoked."
    yield* consent(`Remove ${member_id}? Their sessions and connected apps end. ${keys}`, { yes })
    const answer = yield* send("DELETE", `${of(member_id)}${keep_keys ? "?keep_keys=true" : ""}`, { token })
    const { removedLine } = yield* views
    yield* printSentence(answer, { json }, removedLine)
  })
).pipe(
  Command.withDescription("Remove a member, end their sessions and revoke their keys; needs an owner's session"),
  Command.withAlias("rm")
)

export const members = Command.make("members").pipe(
  Command.withDescription("List members, change their roles and remove them"),
  Command.withSubcommands([list, setRole, remove])
)
