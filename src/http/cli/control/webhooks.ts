/** `rungate webhooks`: where events are posted, and what became of each delivery. Changes need a session. */
import { Clock, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { eventKinds } from "../../../schema/events/Event.ts"
import { type Answer, Client } from "../answers/Client.ts"
import { pageFlags, readList } from "../answers/pages.ts"
import { failureOf, formatOf, json, jsonl, show, showList } from "../answers/show.ts"
import { Credentials } from "../state/Credentials.ts"
import { consent } from "../terminal/consent.ts"
import { yes } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"
import { listen } from "./listen.ts"

const path = "/v1/webhook-endpoints"
const endpoint_id = Argument.String("endpoint_id").pipe(Argument.withDescription("id from webhooks list"))
const of = (id: string) => `${path}/${encodeURIComponent(id)}`
const view = Effect.promise(() => import("./WebhooksView.ts"))
const session = Effect.flatMap(Credentials, (credentials) => credentials.session)

const events = Flag.String("events").pipe(
  Flag.withDescription(`kinds of events, separated by commas: ${eventKinds.join(", ")}`),
  Flag.optional
)
const kindsOf = (text: string) =>
  text
    .split(",")
    .map((kind) => kind.trim())
    .filter((kind) => kind !== "")

const shown = (answer: Answer, flags: { readonly json: boolean }, sentence: string) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    if (formatOf(screen, flags) === "json") return yield* show(answer, { json: true }, () => Effect.succeed(null))
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    yield* screen.say(sentence)
  })

const list = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function* ({ json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    yield* show(yield* send("GET", path), { json }, (text) =>
      Effect.map(view, ({ endpointLines }) => endpointLines(text, screen))
    )
  })
).pipe(Command.withDescription("List webhook endpoints, newest first"), Command.withAlias("ls"))

const create = Command.make(
  "create",
  { url: Argument.String("url").pipe(Argument.withDescription("such as https://example.com/webhooks")), events, json },
  Effect.fnUntraced(function* ({ url, events, json }) {
    const { send } = yield* Client
    const body = { url, events: Option.match(events, { onNone: () => [...eventKinds], onSome: kindsOf }) }
    yield* show(yield* send("POST", path, { token: yield* session, body }), { json }, (text) =>
      Effect.map(view, ({ secretLines }) => secretLines(text))
    )
  })
).pipe(
  Command.withDescription("Send events to a URL, and show the secret that signs them"),
  Command.withExamples([
    {
      command: "rungate webhooks create https://example.com/webhooks --events run.finished,wallet.low",
      description: "Without --events it gets events of every kind"
    }
  ])
)

const statusCommand = (name: "pause" | "resume", status: "paused" | "active", description: string) =>
  Command.make(
    name,
    { endpoint_id, json },
    Effect.fnUntraced(function* ({ endpoint_id, json }) {
      const { send } = yield* Client
      const answer = yield* send("PATCH", of(endpoint_id), { token: yield* session, body: { status } })
      yield* shown(answer, { json }, `${endpoint_id} is ${status}.`)
    })
  ).pipe(Command.withDescription(description))

const rotate = Command.make(
  "rotate",
  {
    endpoint_id,
    grace: Flag.Int("grace-seconds").pipe(
      Flag.withDescription("how long both secrets sign; default: one day"),
      Flag.optional
    ),
    json
  },
  Effect.fnUntraced(function* ({ endpoint_id, grace, json }) {
    const { send } = yield* Client
    const body = Option.match(grace, { onNone: () => ({}), onSome: (grace_seconds) => ({ grace_seconds }) })
    yield* show(yield* send("POST", `${of(endpoint_id)}/rotate`, { token: yield* session, body }), { json }, (text) =>
      Effect.map(view, ({ secretLines }) => secretLines(text))
    )
  })
).pipe(Command.withDescription("Make a new secret; the old one signs beside it for a while"))

const remove = Command.make(
  "remove",
  { endpoint_id, yes, json },
  Effect.fnUntraced(function* ({ endpoint_id, yes, json }) {
    const { send } = yield* Client
    const token = yield* session
    yield* consent(`Remove ${endpoint_id}? It gets no more events, and its deliveries are deleted.`, { yes })
    yield* shown(yield* send("DELETE", of(endpoint_id), { token }), { json }, `Removed ${endpoint_id}.`)
  })
).pipe(Command.withDescription("Remove a webhook endpoint"), Command.withAlias("rm"))

const deliveries = Command.make(
  "deliveries",
  { endpoint_id, ...pageFlags("deliveries"), json, jsonl },
  Effect.fnUntraced(function* ({ endpoint_id, json, jsonl, ...given }) {
    const screen = yield* Screen
    yield* showList(yield* readList(`${of(endpoint_id)}/deliveries`, given), { json, jsonl }, (text) =>
      Effect.gen(function* () {
        const { deliveryLines } = yield* view
        return deliveryLines(text, screen, yield* Clock.currentTimeMillis)
      })
    )
  })
).pipe(Command.withDescription("List deliveries with the receiver's answers, newest first"))

const replay = Command.make(
  "replay",
  {
    endpoint_id,
    delivery_id: Argument.String("delivery_id").pipe(
      Argument.withDescription("id from webhooks deliveries"),
      Argument.optional
    ),
    from: Flag.String("from").pipe(Flag.withDescription("replay the failed events since this time"), Flag.optional),
    json
  },
  Effect.fnUntraced(function* ({ endpoint_id, delivery_id, from, json }) {
    const { send } = yield* Client
    const token = yield* session
    if (Option.isSome(delivery_id)) {
      const answer = yield* send(
        "POST",
        `${of(endpoint_id)}/deliveries/${encodeURIComponent(delivery_id.value)}/replay`,
        { token }
      )
      return yield* shown(answer, { json }, `${delivery_id.value} is sent again.`)
    }
    // Without a time the service says which field is missing.
    const answer = yield* send("POST", `${of(endpoint_id)}/replay`, {
      token,
      body: { from: Option.getOrElse(from, () => "") }
    })
    yield* show(answer, { json }, (text) => Effect.map(view, ({ replayedLines }) => replayedLines(text)))
  })
).pipe(Command.withDescription("Send an event again, or the failed events since a time"))

export const webhooks = Command.make("webhooks").pipe(
  Command.withDescription("List, create and remove webhook endpoints, replay deliveries, and forward events"),
  Command.withSubcommands([
    listen,
    list,
    create,
    statusCommand("pause", "paused", "Stop sending to an endpoint"),
    statusCommand("resume", "active", "Send again, from where the endpoint stopped"),
    rotate,
    deliveries,
    replay,
    remove
  ])
)
