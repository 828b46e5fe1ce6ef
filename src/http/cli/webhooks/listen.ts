/**
 * `rungate webhooks listen`: forwards live events to a program on this machine, signed as the service signs webhooks.
 *
 * It follows the organization's event stream, so the program needs no public address, and a lost connection loses no event. A request that
 * fails is printed and not repeated: `webhooks create` makes an endpoint with retries.
 */
import { createHmac } from "node:crypto"
import { Clock, Effect, Redacted, Stream } from "effect"
import { Command } from "effect/cli"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { type EventKind, eventKinds, isEventKind } from "../../../schema/events/Event.ts"
import { didYouMean } from "../../../schema/suggestion.ts"
import type { ReceivedEvent } from "../../client/Events.ts"
import { Client } from "../answers/Client.ts"
import { formatOf } from "../answers/show.ts"
import { Credentials } from "../state/Credentials.ts"
import { fail, bad } from "../terminal/exits.ts"
import { boolean, text, withExamples } from "../terminal/flags.ts"
import { Screen, type ScreenShape } from "../terminal/Screen.ts"
import { harmless, padEnd, padStart } from "../terminal/text.ts"
import { timeOf } from "../terminal/values.ts"

/** Twice the time that the service gives a receiver, for a program that stops at a breakpoint or compiles first. */
const answerSeconds = 30
/** As many as the service sends to one endpoint at once. */
const parallel = 5

/**
 * The secret that signs forwarded events. It follows from the key, so it is the same at each start, and --print-secret can tell it before.
 * It reveals nothing about the key.
 */
const secretOf = (key: Redacted.Redacted) =>
  Effect.map(
    Effect.promise(() => import("../../../schema/webhooks/Signature.ts")),
    ({ webhookSecret }) =>
      webhookSecret(createHmac("sha256", Redacted.value(key)).update("rungate webhooks listen").digest())
  )

const targetOf = (forward: string | null) => {
  if (forward === null)
    return bad("The address is missing. Give it with --forward, such as --forward http://localhost:3000/hooks")
  const url = URL.canParse(forward) ? new URL(forward) : null
  if (url === null || !["http:", "https:"].includes(url.protocol))
    return bad(`Invalid --forward ${forward}. Give a URL such as http://localhost:3000/hooks`)
  if (url.username !== "" || url.password !== "") return bad("--forward must not contain a user name or password.")
  return Effect.succeed(url.href)
}

const kindsOf = (given: string | null) => {
  if (given === null) return Effect.succeed(null)
  const kinds: Array<EventKind> = []
  for (const kind of given.split(",").map((one) => one.trim())) {
    if (!isEventKind(kind))
      return bad(
        `Unknown kind of event "${kind}" in --events.${didYouMean(kind, eventKinds)} Kinds are: ${eventKinds.join(", ")}`
      )
    kinds.push(kind)
  }
  return Effect.succeed(kinds)
}

/** Posts events to a URL. Never fails: what went wrong is in the result. */
const forwarder = Effect.fnUntraced(function* (url: string, secret: string) {
  const http = yield* HttpClient.HttpClient
  const { webhookHeaders } = yield* Effect.promise(() => import("../../../schema/webhooks/Signature.ts"))

  const post = (event: ReceivedEvent, at: number) => {
    const { id: event_id, type, timestamp, data } = event
    const body = JSON.stringify({ type, timestamp, data })
    const request = HttpClientRequest.post(url).pipe(
      HttpClientRequest.bodyText(body, "application/json"),
      HttpClientRequest.setHeaders(webhookHeaders({ event_id, body, secrets: [secret] }, new Date(at)))
    )
    return http.execute(request).pipe(
      // Of the answer only the status counts.
      Effect.tap((response) => Effect.ignore(Stream.runDrain(Stream.take(response.stream, 1)))),
      Effect.provideService(FetchHttpClient.RequestInit, FetchHttpClient.RequestInit.of({ redirect: "manual" })),
      Effect.map(({ status }) => ({ status, error: null })),
      Effect.catch(() => Effect.succeed({ status: null, error: "could not connect, or the connection was closed" })),
      Effect.timeoutOrElse({
        duration: `${answerSeconds} seconds`,
        orElse: () => Effect.succeed({ status: null, error: `no answer within ${answerSeconds} s` })
      })
    )
  }

  return Effect.fnUntraced(function* (event: ReceivedEvent) {
    const began = yield* Clock.currentTimeMillis
    const answer = yield* post(event, began)
    return { event, duration_ms: (yield* Clock.currentTimeMillis) - began, ...answer }
  })
})
/** What became of one event: its status, or why there was no answer. */
type Forwarded = Effect.Success<ReturnType<Effect.Success<ReturnType<typeof forwarder>>>>

const kindWidth = Math.max(...eventKinds.map((kind) => kind.length))

const lineOf = ({ event, status, duration_ms, error }: Forwarded, screen: ScreenShape): string => {
  const isGood = status !== null && status >= 200 && status < 300
  return [
    screen.paint("dim", timeOf(event.timestamp).slice(-"00:00:00".length)),
    padEnd(harmless(event.type), kindWidth),
    harmless(event.id),
    screen.paint(isGood ? "green" : "red", status === null ? (error ?? "failed") : String(status)),
    padStart(`${duration_ms} ms`, 8)
  ].join("  ")
}

const jsonOf = ({ event: { id, type, timestamp }, status, duration_ms, error }: Forwarded): string =>
  JSON.stringify({ id, type, timestamp, status, duration_ms, error })

export const listen = Command.make(
  "listen",
  {
    forward: text("forward", "URL that gets the events, such as http://localhost:3000/hooks"),
    events: text("events", `kinds of events, separated by commas; default: all. ${eventKinds.join(", ")}`),
    print_secret: boolean("print-secret", "print the signing secret and end"),
    json: boolean("json", "print one JSON object per event; default in a pipe")
  },
  Effect.fnUntraced(function* ({ forward, events, print_secret, json }) {
    const client = yield* Client
    const screen = yield* Screen
    const { key, missing } = yield* Credentials
    if (key === null) return yield* fail("auth", missing)
    const secret = yield* secretOf(key)
    if (print_secret) return yield* screen.out(`${secret}\n`)
    const url = yield* targetOf(forward)
    const types = yield* kindsOf(events)
    const send = yield* forwarder(url, secret)
    const isTable = formatOf(screen, { json }) === "table"

    const began = Effect.gen(function* () {
      yield* screen.say(`Forwarding events of ${client.url} to ${url} (Ctrl-C stops).`, "dim")
      yield* screen.say(`They are signed with the secret ${secret}`)
    })
    yield* client.events(types === null ? {} : { types }, began).pipe(
      Stream.mapEffect(send, { concurrency: parallel, unordered: true }),
      Stream.mapEffect((forwarded) => screen.out(`${isTable ? lineOf(forwarded, screen) : jsonOf(forwarded)}\n`)),
      // Stop when the reader of stdout has closed the pipe.
      Stream.takeUntil(() => screen.closed()),
      Stream.runDrain
    )
  })
).pipe(
  Command.withDescription("Forward live events to a program on this machine, signed as webhooks are"),
  withExamples({
    "rungate webhooks listen --forward http://localhost:3000/hooks --events run.finished":
      "Each event is a POST, and its answer is printed",
    "WEBHOOK_SECRET=$(rungate webhooks listen --print-secret)":
      "The secret that verifies them. It stays the same as long as the key does"
  })
)
