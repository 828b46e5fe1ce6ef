/** `rungate webhooks`: where events are posted, and what became of each delivery. Changes need a session. */
import { Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { eventKinds } from "../../../schema/events/Event.ts"
import { WebhookDelivery, WebhookEndpoint } from "../../../schema/nouns/Webhook.ts"
import { WebhooksApi, WebhooksReplayed } from "../../api/Webhooks.ts"
import { drawn, listed, said } from "../answers/draw.ts"
import { call } from "../answers/operation.ts"
import { row, rowWith, shownAs } from "../answers/row.ts"
import { json } from "../answers/show.ts"
import { Credentials } from "../state/Credentials.ts"
import { argument, optionalArgument, text } from "../terminal/flags.ts"
import { listen } from "./listen.ts"

const { endpoints } = WebhooksApi

const list = row(endpoints.list, {
  show: listed(
    WebhookEndpoint,
    "There are no webhook endpoints. Create one with: rungate webhooks create https://example.com/webhooks",
    { status: (one) => (one.paused_because === null ? one.status : `paused (${one.paused_because})`) }
  )
})

const kindsOf = (text: string) =>
  text
    .split(",")
    .map((kind) => kind.trim())
    .filter((kind) => kind !== "")

/** A new endpoint or a new secret. */
const secret = drawn(
  Schema.Struct({ id: Schema.String, url: Schema.String, secret: Schema.String }),
  ({ id, url, secret }) => [
    `${id} sends to ${url}`,
    "",
    `  secret  ${secret}`,
    "",
    "Store the secret now: it is not shown again. It verifies the signature of each webhook (standardwebhooks.com)."
  ]
)

const create = rowWith(
  endpoints.create,
  { kinds: text("events", `kinds of events, separated by commas: ${eventKinds.join(", ")}`) },
  ({ kinds }) => Effect.succeed({ events: kinds === null ? eventKinds : kindsOf(kinds) }),
  {
    about: "Send events to a URL, and show the secret that signs them",
    fields: { url: argument("url", "such as https://example.com/webhooks"), events: false },
    examples: {
      "rungate webhooks create https://example.com/webhooks --events run.finished,wallet.low":
        "Without --events it gets events of every kind"
    },
    show: secret
  }
)

const statusCommand = (name: string, status: "paused" | "active", about: string) =>
  rowWith(endpoints.change, {}, () => Effect.succeed({ status }), {
    name,
    about,
    fields: { url: false, events: false, status: false },
    show: said("{endpoint_id} is {status}.")
  })

const rotate = row(endpoints.rotate, {
  about: "Make a new secret; the old one signs beside it for a while",
  show: secret
})

const remove = row(endpoints.remove, {
  confirm: "Remove {endpoint_id}? It gets no more events, and its deliveries are deleted.",
  show: said("Removed {endpoint_id}.")
})

const lastAnswer = (last: { readonly status: number | null; readonly answer: string } | undefined): string =>
  last === undefined ? "" : last.status === null ? last.answer : String(last.status)

const deliveries = row(endpoints.deliveries, {
  fields: { status: "only deliveries of this status" },
  show: listed(WebhookDelivery, "There are no deliveries.", { answers: ({ answers }) => lastAnswer(answers.at(-1)) })
})

const replayed = drawn(WebhooksReplayed, ({ replayed }) => [
  replayed === 0 ? "There was no such event to replay." : `Events to send again: ${replayed}`
])

const replay = Command.make(
  "replay",
  {
    endpoint_id: argument("endpoint_id", "id from webhooks list"),
    delivery_id: optionalArgument(Argument.String("delivery_id"), "id from webhooks deliveries"),
    from: text("from", "replay the failed events since this time"),
    json
  },
  Effect.fnUntraced(function* ({ endpoint_id, delivery_id, from, json }) {
    const token = yield* (yield* Credentials).session
    // Without a time the service says which field is missing.
    const answer =
      delivery_id === null
        ? call(endpoints.replayAll, { params: { endpoint_id }, payload: { from: from ?? "" } }, { token })
        : call(endpoints.replay, { params: { endpoint_id, delivery_id } }, { token })
    const show = delivery_id === null ? replayed : said("{delivery_id} is sent again.")
    yield* shownAs(show, yield* answer, { json, fields: { delivery_id } })
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
