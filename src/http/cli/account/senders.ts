/** `rungate senders`: the domains that runs may send e-mail from. Changing them needs a session. */
import { Clock, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { type Answer, Client } from "../answers/Client.ts"
import { consent } from "../terminal/consent.ts"
import { Credentials } from "../state/Credentials.ts"
import { pageFlags, readList } from "../answers/pages.ts"
import { Screen } from "../terminal/Screen.ts"
import { failureOf, formatOf, json, jsonl, show, showList } from "../answers/show.ts"
import { yes } from "../terminal/flags.ts"

const path = "/v1/senders"
const sender_id = Argument.String("sender_id").pipe(Argument.withDescription("id from senders list"))
const of = (id: string) => `${path}/${encodeURIComponent(id)}`

const list = Command.make(
  "list",
  {
    ...pageFlags("senders"),
    json,
    jsonl
  },
  Effect.fnUntraced(function* ({ json, jsonl, ...given }) {
    const screen = yield* Screen
    yield* showList(yield* readList(path, given), { json, jsonl }, (text) =>
      Effect.gen(function* () {
        const { senderLines } = yield* Effect.promise(() => import("./SendersView.ts"))
        return senderLines(text, screen, yield* Clock.currentTimeMillis)
      })
    )
  })
).pipe(Command.withDescription("List senders, newest first"), Command.withAlias("ls"))

const shown = (answer: Answer, flags: { readonly json: boolean }) =>
  show(answer, flags, (text) =>
    Effect.map(
      Effect.promise(() => import("./SendersView.ts")),
      ({ senderText }) => senderText(text)
    )
  )

const add = Command.make(
  "add",
  { domain: Argument.String("domain").pipe(Argument.withDescription("such as example.com")), json },
  Effect.fnUntraced(function* ({ domain, json }) {
    const { send } = yield* Client
    const token = yield* (yield* Credentials).session
    yield* shown(yield* send("POST", path, { token, body: { domain } }), { json })
  })
).pipe(
  Command.withDescription("Add a domain and show the DNS record that verifies it"),
  Command.withExamples([
    { command: "rungate senders add example.com", description: "Then create the DNS record and run senders verify" }
  ])
)

const verify = Command.make(
  "verify",
  { sender_id, json },
  Effect.fnUntraced(function* ({ sender_id, json }) {
    const { send } = yield* Client
    const token = yield* (yield* Credentials).session
    yield* shown(yield* send("POST", `${of(sender_id)}/verify`, { token }), { json })
  })
).pipe(Command.withDescription("Check the DNS record and verify the domain"))

const remove = Command.make(
  "remove",
  { sender_id, yes, json },
  Effect.fnUntraced(function* ({ sender_id, yes, json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    const token = yield* (yield* Credentials).session
    yield* consent(`Remove ${sender_id}? Runs that send from its addresses will be refused.`, { yes })
    const answer = yield* send("DELETE", of(sender_id), { token })
    if (formatOf(screen, { json }) === "json") return yield* show(answer, { json: true }, () => Effect.succeed(null))
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    yield* screen.say(`Removed ${sender_id}.`)
  })
).pipe(Command.withDescription("Remove a sender"), Command.withAlias("rm"))

export const senders = Command.make("senders").pipe(
  Command.withDescription("List, add, verify and remove domains to send e-mail from"),
  Command.withSubcommands([list, add, verify, remove])
)
