/**
 * Follows events of the service and continues after a lost connection, so that a program sees each event once.
 *
 * It connects again with the id of the last event, after a pause, when the connection is lost, silent or refused for a while. A refusal that a
 * repetition can't change ends the stream with an error. So does a first connection that fails.
 */
import { RungateError, refusal } from "./errors.ts"
import {
  addressOf,
  type ConnectOptions,
  connectionError,
  headersOf,
  pause,
  pauseSecondsMax,
  segment
} from "./transport.ts"

export interface EventOptions {
  /** Only events of this run, from its beginning. The stream ends with the run. */
  readonly run_id?: string | undefined
  /** Only events of these types. */
  readonly types?: ReadonlyArray<string> | undefined
  /** Id of the last event that the program has. The stream continues after it. */
  readonly after?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Longer than two heartbeats of the service. A connection that is silent for so long is lost. */
const silenceSeconds = 40
const pauseSeconds = 1
/** Statuses of a service that restarts or is busy. */
const passing = [408, 429, 500, 502, 503, 504]

interface Message {
  readonly id: string
  readonly data: string
}

/** Messages with data in the text so far, and the rest, which is no whole message yet. */
const messagesIn = (text: string): { readonly messages: ReadonlyArray<Message>; readonly rest: string } => {
  const blocks = text.split(/\r\n\r\n|\n\n|\r\r/)
  const rest = blocks.pop() ?? ""
  const messages = blocks.flatMap((block) => {
    let id = ""
    const data: Array<string> = []
    for (const line of block.split(/\r\n|\n|\r/)) {
      const [, field = "", value = ""] = /^([^:]*):? ?([^]*)$/.exec(line) ?? []
      if (field === "id") id = value
      if (field === "data") data.push(value)
    }
    return data.length === 0 ? [] : [{ id, data: data.join("\n") }]
  })
  return { messages, rest }
}

async function* messagesOf(body: ReadableStream<Uint8Array>, onSilence: () => void): AsyncGenerator<Message> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ""
  for (;;) {
    const timer = setTimeout(onSilence, silenceSeconds * 1000)
    const { done, value } = await reader.read().finally(() => clearTimeout(timer))
    if (done) return
    const { messages, rest } = messagesIn(text + decoder.decode(value, { stream: true }))
    text = rest
    yield* messages
  }
}

const eventOf = <E>(data: string): E => {
  try {
    return JSON.parse(data)
  } catch {
    throw new RungateError({ code: "unexpected_answer", message: "The service sent an event that is no JSON." })
  }
}

export async function* followEvents<E extends { readonly type: string }>(
  to: ConnectOptions,
  options: EventOptions
): AsyncGenerator<E & { readonly id: string }, void, undefined> {
  const { run_id, types, signal } = options
  const path = run_id === undefined ? "/v1/events" : `/v1/runs/${segment("run_id", run_id)}/events`
  const address = addressOf(to, types === undefined ? path : `${path}?types=${encodeURIComponent(types.join(","))}`)
  let last = options.after
  let connected = false
  const closing = new AbortController()
  const close = () => closing.abort(signal?.reason)
  if (signal?.aborted === true) close()
  signal?.addEventListener("abort", close, { once: true })
  try {
    for (;;) {
      const connection = new AbortController()
      const stop = () => connection.abort()
      closing.signal.addEventListener("abort", stop, { once: true })
      let wait = pauseSeconds
      try {
        if (closing.signal.aborted) stop()
        const response = await (to.fetch ?? globalThis.fetch)(address, {
          headers: {
            ...headersOf(to, "text/event-stream"),
            ...(last === undefined ? {} : { "last-event-id": last })
          },
          signal: connection.signal,
          redirect: "manual"
        })
        // The client has everything.
        if (response.status === 204) return
        if (response.status !== 200) {
          const error = refusal(response.status, response.headers, await response.text())
          if (!connected || !passing.includes(response.status)) throw error
          wait = Math.min(Math.max(error.retry_after ?? 0, pauseSeconds), pauseSecondsMax)
        } else if (response.body !== null) {
          connected = true
          for await (const { id, data } of messagesOf(response.body, stop)) {
            if (id === "") continue
            const event = eventOf<E>(data)
            last = id
            yield { ...event, id }
            if (run_id !== undefined && event.type === "run.finished") return
          }
        }
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason
        if (error instanceof RungateError) throw error
        if (!connected) throw connectionError(error)
      } finally {
        closing.signal.removeEventListener("abort", stop)
        // Leaving the loop of the program ends the connection too.
        stop()
      }
      await pause(wait, signal)
    }
  } finally {
    signal?.removeEventListener("abort", close)
  }
}
