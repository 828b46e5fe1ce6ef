/** Formats webhook endpoints and deliveries for a terminal. Loaded on demand, because it imports the API contract. */
import { Schema } from "effect"
import { WebhookDelivery, WebhookEndpoint, WebhooksReplayed } from "../../api/Webhooks.ts"
import { decoded, type Lines } from "../answers/show.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"
import { agoOf } from "../terminal/values.ts"

const Endpoints = Schema.Struct({ items: Schema.Array(WebhookEndpoint), next_cursor: Schema.Null })
const Deliveries = Schema.Struct({ items: Schema.Array(WebhookDelivery), next_cursor: Schema.NullOr(Schema.String) })
const NewEndpoint = Schema.Struct({ id: Schema.String, url: Schema.String, secret: Schema.String })

export const endpointLines = (text: string, screen: ScreenShape): Lines | null => {
  const page = decoded(Endpoints, text)
  if (page === null) return null
  if (page.items.length === 0)
    return ["There are no webhook endpoints. Create one with: rungate webhooks create https://example.com/webhooks"]
  return table(
    page.items,
    [
      { title: "ID", of: (one) => one.id },
      { title: "URL", of: (one) => one.url, least: 16 },
      { title: "STATUS", of: (one) => (one.paused_because === null ? one.status : `paused (${one.paused_because})`) },
      { title: "EVENTS", of: (one) => one.events.join(" "), least: 10, dropped: 1 }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
}

/** `now` in milliseconds since 1970. */
export const deliveryLines = (text: string, screen: ScreenShape, now: number): Lines | null => {
  const page = decoded(Deliveries, text)
  if (page === null) return null
  if (page.items.length === 0) return ["There are no deliveries."]
  const rows = table(
    page.items,
    [
      { title: "ID", of: (one) => one.id },
      { title: "EVENT", of: (one) => one.type },
      { title: "STATUS", of: (one) => one.status },
      { title: "ATTEMPTS", of: (one) => String(one.attempts), right: true },
      { title: "LAST ANSWER", of: (one) => lastAnswer(one.answers.at(-1)), least: 8 },
      { title: "CREATED", of: (one) => `${agoOf(new Date(one.created_at).getTime(), now)} ago`, dropped: 1 }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
  return page.next_cursor === null
    ? rows
    : [...rows, screen.paint("dim", `More: --cursor ${page.next_cursor}, or --all`)]
}

export const replayedLines = (text: string): Lines | null => {
  const answer = decoded(WebhooksReplayed, text)
  if (answer === null) return null
  return [answer.replayed === 0 ? "There was no such event to replay." : `Events to send again: ${answer.replayed}`]
}

const lastAnswer = (last: { readonly status: number | null; readonly answer: string } | undefined): string =>
  last === undefined ? "" : last.status === null ? last.answer : String(last.status)

/** A new endpoint or a new secret. */
export const secretLines = (text: string): Lines | null => {
  const created = decoded(NewEndpoint, text)
  if (created === null) return null
  return [
    `${created.id} sends to ${created.url}`,
    "",
    `  secret  ${created.secret}`,
    "",
    "Store the secret now: it is not shown again. It verifies the signature of each webhook (standardwebhooks.com)."
  ]
}
