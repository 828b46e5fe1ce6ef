/**
 * The body of an event stream: events of the feed as server-sent events, with a bounded buffer.
 *
 * A client that reads slowly fills its buffer. Then the stream stops sending, and continues from the log when the buffer is empty. A
 * client that has not read for four minutes (`idleSeconds` of the server) is disconnected, and resumes with Last-Event-ID.
 */
import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import type { Connection, EventFeed, EventStream, StreamRequest } from "../../actors/events/EventFeed.ts"
import type { LoggedEvent } from "../../layers/events/EventLog.ts"
import { refusedWith } from "../../schema/Errors.ts"

const bufferBytesMax = 64 * 1024
/** How long a client should wait before it connects again. */
const retryMillis = 1_000
/** The client may be gone before the response begins. Then nobody reads the body. */
const beginMillis = 10_000

/** Refuses a stream beyond the organization's limit. */
export const tooManyStreams = ({ perOrganization }: EventFeed["Service"]) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", "5"))
  ).pipe(
    Effect.andThen(
      refusedWith(
        "rate_limited",
        `This organization has ${perOrganization} streams of events and of results open at this process. Read one to its end, close one, or share one between your programs.`
      )
    )
  )

/** Counts the answer to this request as one of the organization's streams, until its body ends. */
export const takeStream = (feed: EventFeed["Service"], org_id: string) =>
  Effect.acquireRelease(
    Effect.suspend(() => (feed.reserve(org_id) ? Effect.void : tooManyStreams(feed))),
    () => Effect.sync(() => feed.release(org_id))
  )

const encoder = new TextEncoder()
const opening = encoder.encode(`retry: ${retryMillis}\n\n`)
const heartbeat = encoder.encode(": heartbeat\n\n")

/** All streams of an organization send the same bytes. */
const encoded = new WeakMap<LoggedEvent, Uint8Array>()
const bytesOf = (event: LoggedEvent): Uint8Array => {
  const cached = encoded.get(event)
  if (cached !== undefined) return cached
  const bytes = encoder.encode(textOf(event))
  encoded.set(event, bytes)
  return bytes
}

/** An event as it is sent. Its JSON text has no line break. */
export const textOf = ({ id, kind, text }: LoggedEvent): string => `id: ${id}\nevent: ${kind}\ndata: ${text}\n\n`

/** A finite stream, for a run that has ended. */
export const finite = (events: ReadonlyArray<LoggedEvent>): string =>
  `retry: ${retryMillis}\n\n${events.map(textOf).join("")}`

/** A body that follows the feed. It needs a reserved stream, which it gives back when it ends. */
export const following = (feed: EventFeed["Service"], request: StreamRequest): ReadableStream<Uint8Array> => {
  let stream: EventStream | null = null
  let over = false
  const finish = () => {
    if (over) return
    over = true
    clearTimeout(unread)
    if (stream === null) feed.release(request.org_id)
    else stream.close()
  }
  const unread = setTimeout(finish, beginMillis)
  const connectionOf = (controller: ReadableStreamDefaultController<Uint8Array>): Connection => ({
    send: (event) => {
      controller.enqueue(bytesOf(event))
      return -(controller.desiredSize ?? 0) < bufferBytesMax
    },
    beat: () => controller.enqueue(heartbeat),
    end: () => {
      finish()
      controller.close()
    }
  })
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (over) return
        if (stream !== null) return stream.resume()
        clearTimeout(unread)
        controller.enqueue(opening)
        feed.release(request.org_id)
        stream = feed.open(request, connectionOf(controller))
      },
      cancel: finish
    },
    // Zero: the stream pulls when its buffer is empty and the client reads.
    { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 }
  )
}
