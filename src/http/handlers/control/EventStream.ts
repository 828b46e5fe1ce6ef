/**
 * The body of an event stream: events of the feed as server-sent events, with a bounded buffer.
 *
 * A client that reads slowly fills its buffer. Then the stream stops sending, and continues from the log when the buffer is empty. A
 * client that has not read for a minute is disconnected, and resumes with Last-Event-ID.
 */
import type { Connection, EventFeed, EventStream, StreamRequest } from "../../../actors/events/EventFeed.ts"
import type { LoggedEvent } from "../../../layers/events/EventLog.ts"

const bufferBytesMax = 64 * 1024
/** How long a client should wait before it connects again. */
const retryMillis = 1_000
/** The client may be gone before the response begins. Then nobody reads the body. */
const beginMillis = 10_000

const encoder = new TextEncoder()
const opening = encoder.encode(`retry: ${retryMillis}\n\n`)
const heartbeat = encoder.encode(": heartbeat\n\n")

/** All streams of an organization send the same bytes. */
const encoded = new WeakMap<LoggedEvent, Uint8Array>()
const bytesOf = (event: LoggedEvent): Uint8Array => {
  const known = encoded.get(event)
  if (known !== undefined) return known
  const made = encoder.encode(textOf(event))
  encoded.set(event, made)
  return made
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
