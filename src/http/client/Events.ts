/**
 * Follows events of the service and continues after a lost connection, so that a program sees each event once.
 *
 * It connects again with the id of the last event: after a pause when the connection is lost, silent or refused for a while. A refusal
 * that a repetition can't change ends the stream. So does a first connection that fails.
 */
import { Effect, Schedule, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { EventKind } from "../../schema/events/Event.ts"
import { segmentOf } from "../../schema/Ids.ts"
import { Event } from "../../schema/nouns/Event.ts"
import { plainTransport, type Target } from "./Transport.ts"

export interface EventOptions {
  /** Only events of this run, from its beginning. The stream ends with the run. */
  readonly run_id?: string
  /** Only events of these types. */
  readonly types?: ReadonlyArray<EventKind>
  /** Id of the last event that the program has. The stream continues after it. */
  readonly after?: string
}

export interface ReceivedEvent extends Event {
  readonly id: string
}

/** What a program learns about the connection. Without it, connections are lost and made again in silence. */
export interface ConnectionWatch {
  /** A connection is open. All events from now on will come, or all after the last one. */
  readonly connected: Effect.Effect<void>
  /** A lost connection could not be made again, because of this status or of none. The client tries again. */
  readonly away: (status: number | null) => Effect.Effect<void>
}
const unwatched: ConnectionWatch = { connected: Effect.void, away: () => Effect.void }

/** Longer than two heartbeats of the service. A connection that is silent for so long is lost. */
const silenceSeconds = 40
const pause = "1 second"
/** Statuses of a service that restarts or is busy. */
const passing = new Set([408, 429, 500, 502, 503, 504])

const decodeEvent = Schema.decodeUnknownOption(Schema.fromJsonString(Event))

/** `refusal` makes the error of a response with an error status. */
export const followEvents = <E>(
  target: Target,
  options: EventOptions,
  refusal: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<never, E>,
  watch: ConnectionWatch = unwatched
): Stream.Stream<ReceivedEvent, E | HttpClientError.HttpClientError, HttpClient.HttpClient> =>
  Stream.suspend(() => {
    const path = options.run_id === undefined ? "/v1/events" : `/v1/runs/${segmentOf(options.run_id)}/events`
    const types = options.types === undefined ? "" : `?types=${options.types.join(",")}`
    let last = options.after
    let connected = false

    const received = (response: HttpClientResponse.HttpClientResponse) => {
      let events: Array<ReceivedEvent> = []
      const parser = Sse.makeParser((one) => {
        if (one._tag === "Retry") return
        const event = decodeEvent(one.data)
        if (event._tag === "Some" && one.id !== undefined) events.push({ ...event.value, id: one.id })
      })
      return response.stream.pipe(
        Stream.decodeText(),
        Stream.timeout(`${silenceSeconds} seconds`),
        Stream.map((text) => {
          events = []
          parser.feed(text)
          return events
        }),
        Stream.flattenIterable,
        Stream.tap(({ id }) =>
          Effect.sync(() => {
            last = id
          })
        )
      )
    }

    type Received = Stream.Stream<ReceivedEvent | null, E | HttpClientError.HttpClientError>
    const nothing: Received = Stream.empty

    /** One connection. It ends with null when no further events can come. */
    const connect = Effect.gen(function* () {
      const http = plainTransport(target)(yield* HttpClient.HttpClient)
      const request = HttpClientRequest.get(`${path}${types}`).pipe(
        HttpClientRequest.setHeader("accept", "text/event-stream"),
        last === undefined ? (one) => one : HttpClientRequest.setHeader("last-event-id", last)
      )
      const response = yield* http
        .execute(request)
        .pipe(Effect.tapError(() => (connected ? watch.away(null) : Effect.void)))
      if (response.status === 204) return Stream.succeed(null)
      if (response.status === 200) {
        connected = true
        yield* watch.connected
        return received(response)
      }
      if (!connected || !passing.has(response.status)) return yield* refusal(response)
      yield* watch.away(response.status)
      return nothing
    })
    const connection = Stream.unwrap(connect).pipe(
      Stream.catchIf(
        (error) => connected && HttpClientError.isHttpClientError(error),
        () => nothing
      )
    )

    return connection.pipe(
      Stream.repeat(Schedule.spaced(pause)),
      Stream.takeUntil((event) => event === null || (options.run_id !== undefined && event.type === "run.finished")),
      Stream.filter((event) => event !== null)
    )
  })
